//go:build !linux || (!amd64 && !arm64)

package main

import "log"

func main() { log.Fatal("hostclass: only Linux on amd64 and arm64 has these classes") }
