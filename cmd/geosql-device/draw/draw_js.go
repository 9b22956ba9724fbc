package main

import (
	"errors"
	"unsafe"
)

// A draw crosses as numbers: calls of functions of JavaScript cost several times as much as the draw itself.

// drawn are the numbers of the last draw.
var drawn [8]float64

// failed is the text of the last error.
var failed []byte

// draw draws for the secret x, y, and returns the count of numbers in drawn, or the length of the text in failed, negated.
//
//go:wasmexport draw
func draw(handle uint32, x, y float64) int32 {
	numbers, err := module.Draw(handle, x, y)
	if err != nil {
		failed = []byte(err.Error())
		return -int32(len(failed))
	}
	return int32(copy(drawn[:], numbers))
}

//go:wasmexport numbers
func numbers() unsafe.Pointer { return unsafe.Pointer(&drawn) }

//go:wasmexport failure
func failure() unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(failed)) }

// entropy reads crypto.getRandomValues.
type entropy struct{}

// getRandomValues fills n bytes and returns 1, or 0 if it fails.
//
//go:wasmimport geosql getRandomValues
func getRandomValues(p unsafe.Pointer, n uint32) uint32

var errEntropy = errors.New("crypto.getRandomValues failed")

// Read implements [io.Reader]. It fills p, at most 65,536 bytes.
func (entropy) Read(p []byte) (int, error) {
	if len(p) > 0 && getRandomValues(unsafe.Pointer(unsafe.SliceData(p)), uint32(len(p))) == 0 {
		return 0, errEntropy
	}
	return len(p), nil
}
