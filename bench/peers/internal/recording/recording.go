// SPDX-License-Identifier: Apache-2.0

// Package recording names the files of a recording and reads the watch frames in them.
//
//	<resource>.watchlist.<json|pb>  a WatchList's opening: every object, then the bookmark that ends it
//	<resource>.list.pb              the whole LIST
//	pods.events.<json|pb>           MODIFIED events that followed
package recording

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"path/filepath"

	"bufio"
)

// A Format is one of the two encodings an API server speaks, by its file ending.
type Format string

const (
	JSON     Format = "json"
	Protobuf Format = "pb"
)

// MediaType is what a client puts into Accept, and a server into Content-Type.
func (f Format) MediaType() string {
	if f == Protobuf {
		return "application/vnd.kubernetes.protobuf"
	}
	return "application/json"
}

func WatchList(dir, resource string, f Format) string {
	return filepath.Join(dir, resource+".watchlist."+string(f))
}
func List(dir, resource string, f Format) string {
	return filepath.Join(dir, resource+".list."+string(f))
}
func Events(dir string, f Format) string { return filepath.Join(dir, "pods.events."+string(f)) }

// ReadFrame reads one watch event with its framing: a line, or a length and as many bytes.
func ReadFrame(r *bufio.Reader, f Format) ([]byte, error) {
	if f == JSON {
		return r.ReadBytes('\n')
	}
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	frame := make([]byte, 4+binary.BigEndian.Uint32(head[:]))
	copy(frame, head[:])
	_, err := io.ReadFull(r, frame[4:])
	return frame, err
}

// Split cuts bytes in memory into frames, without copying.
func Split(data []byte, f Format) (frames [][]byte) {
	for len(data) > 0 {
		size := bytes.IndexByte(data, '\n') + 1
		if f == Protobuf {
			size = 4 + int(binary.BigEndian.Uint32(data))
		}
		frames, data = append(frames, data[:size:size]), data[size:]
	}
	return frames
}

// EndsInitialEvents tells the bookmark that closes a WatchList's opening from the objects before it.
func EndsInitialEvents(frame []byte) bool {
	return len(frame) < 1000 && bytes.Contains(frame, []byte("k8s.io/initial-events-end"))
}

// VersionAt finds the six digits of metadata.resourceVersion, so that a repeat can move them on in place.
func VersionAt(frame []byte, f Format) (int, error) {
	prefix := []byte(`"resourceVersion":"`)
	if f == Protobuf {
		prefix = []byte{6<<3 | 2, VersionDigits} // ObjectMeta's field 6, a string of this length
	}
	for from := 0; ; {
		found := bytes.Index(frame[from:], prefix)
		if found < 0 {
			return 0, fmt.Errorf("no resourceVersion of %d digits in a frame of %d bytes", VersionDigits, len(frame))
		}
		from += found + len(prefix)
		if from+VersionDigits <= len(frame) && allDigits(frame[from:from+VersionDigits]) {
			return from, nil
		}
	}
}

// VersionDigits is the width of every resourceVersion in a recording: fill sees to it.
const VersionDigits = 6

func allDigits(text []byte) bool {
	for _, c := range text {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}
