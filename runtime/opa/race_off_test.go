//go:build !race

package opa

const raceDetector = false
