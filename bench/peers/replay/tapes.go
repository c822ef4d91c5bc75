// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"syscall"

	"gpu.berth.dev/bench/peers/internal/recording"
)

// Stands for "now" where nothing was recorded: as wide as the recorded versions.
const emptyVersion = "900000"

// tapes are the recorded bytes, mapped when first asked for.
type tapes struct {
	dir    string
	limits map[string]int // resource → how many objects are served; 0: all
	mutex  sync.Mutex
	maps   map[string][]byte
}

func newTapes(dir string, limits map[string]int) *tapes {
	return &tapes{dir: dir, limits: limits, maps: map[string][]byte{}}
}

func (t *tapes) recorded(resource string) bool {
	_, known := t.limits[resource]
	return known && t.dir != ""
}

// file maps a file into memory, writable in private, so that versions can be moved on in place.
func (t *tapes) file(name string) []byte {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if data, ok := t.maps[name]; ok {
		return data
	}
	file, err := os.Open(name)
	check(err)
	defer file.Close()
	info, err := file.Stat()
	check(err)
	data, err := syscall.Mmap(int(file.Fd()), 0, int(info.Size()), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE)
	check(err)
	t.maps[name] = data
	return data
}

// watchList is a WatchList's opening. Cut short, it is the first objects and the closing bookmark.
func (t *tapes) watchList(resource string, format recording.Format) []byte {
	if !t.recorded(resource) {
		return []byte(`{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"` + emptyVersion +
			`","annotations":{"k8s.io/initial-events-end":"true"}}}}` + "\n")
	}
	data := t.file(recording.WatchList(t.dir, resource, format))
	limit := t.limits[resource]
	if limit == 0 {
		return data
	}
	frames := recording.Split(data, format)
	if limit >= len(frames) {
		return data
	}
	size := 0
	for _, frame := range frames[:limit] {
		size += len(frame)
	}
	return append(data[:size:size], frames[len(frames)-1]...)
}

func (t *tapes) list(resource string, format recording.Format) []byte {
	return t.file(recording.List(t.dir, resource, format))
}

// writePage writes a page of a JSON LIST, made of the objects of the WatchList. The continue token is a position.
func (t *tapes) writePage(w io.Writer, resource, limitText, fromText string) {
	var frames [][]byte
	if t.recorded(resource) {
		frames = recording.Split(t.watchList(resource, recording.JSON), recording.JSON)
		frames = frames[:len(frames)-1]
	}
	from, _ := strconv.Atoi(fromText)
	limit, _ := strconv.Atoi(limitText)
	end, next := len(frames), ""
	if limit > 0 && from+limit < end {
		end = from + limit
		next = strconv.Itoa(end)
	}
	fmt.Fprintf(w, `{"kind":"List","apiVersion":"v1","metadata":{"resourceVersion":%q,"continue":%q},"items":[`, emptyVersion, next)
	for i, frame := range frames[min(from, end):end] {
		var event struct{ Object json.RawMessage }
		check(json.Unmarshal(frame, &event))
		if i > 0 {
			fmt.Fprint(w, ",")
		}
		_, _ = w.Write(event.Object)
	}
	fmt.Fprint(w, "]}\n")
}

// events is the recorded stream of changes; each time it is played its versions are higher.
type events struct {
	data     []byte
	versions [][]byte // the digits inside data
	played   int
}

func (t *tapes) events(format recording.Format) *events {
	e := &events{data: t.file(recording.Events(t.dir, format))}
	for _, frame := range recording.Split(e.data, format) {
		at, err := recording.VersionAt(frame, format)
		check(err)
		e.versions = append(e.versions, frame[at:at+recording.VersionDigits])
	}
	return e
}

func (e *events) next() []byte {
	if e.played++; e.played > 1 {
		for _, digits := range e.versions {
			version, err := strconv.Atoi(string(digits))
			check(err)
			copy(digits, fmt.Sprintf("%0*d", recording.VersionDigits, version+len(e.versions)))
		}
	}
	return e.data
}
