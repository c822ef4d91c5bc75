module gpu.berth.dev/tests/apiserver/faultproxy

go 1.24
