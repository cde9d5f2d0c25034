//go:build race

package opa

const raceDetector = true
