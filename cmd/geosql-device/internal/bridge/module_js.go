package bridge

import (
	"encoding/binary"
	"errors"
	"math"
	"unsafe"
)

var (
	shared    []byte
	functions Functions
	draws     func(handle uint32, x, y float64) ([]float64, error)
)

// Serve answers calls of the functions and draws. It does not return.
func Serve(f Functions, draw func(handle uint32, x, y float64) ([]float64, error)) {
	functions, draws = f, draw
	select {}
}

// buffer returns the shared buffer with room for n bytes.
//
//go:wasmexport buffer
func buffer(n uint32) unsafe.Pointer {
	if int(n) > len(shared) {
		shared = make([]byte, n)
	}
	return unsafe.Pointer(unsafe.SliceData(shared))
}

// call answers the call in the first n bytes of the buffer and returns the length of the answer. The buffer may have moved.
//
//go:wasmexport call
func call(n uint32) uint32 { return put(functions.Call(shared[:n])) }

func put(text []byte) uint32 {
	buffer(uint32(len(text)))
	copy(shared, text)
	return uint32(len(text))
}

// draw draws for a secret. It returns the count of numbers in the buffer, or the length of an error's text, negated.
//
//go:wasmexport draw
func draw(handle uint32, x, y float64) int32 {
	numbers, err := guarded(handle, x, y)
	if err != nil {
		return -int32(put([]byte(err.Error())))
	}
	buffer(uint32(8 * len(numbers)))
	for i, number := range numbers {
		binary.LittleEndian.PutUint64(shared[8*i:], math.Float64bits(number))
	}
	return int32(len(numbers))
}

func guarded(handle uint32, x, y float64) (numbers []float64, err error) {
	defer recovered(&err)
	return draws(handle, x, y)
}

// Entropy reads crypto.getRandomValues.
type Entropy struct{}

// getRandomValues fills n bytes and returns 1, or 0 if it fails.
//
//go:wasmimport geosql getRandomValues
func getRandomValues(p unsafe.Pointer, n uint32) uint32

var errEntropy = errors.New("crypto.getRandomValues failed")

// Read implements [io.Reader]. It fills p, at most 65,536 bytes.
func (Entropy) Read(p []byte) (int, error) {
	if len(p) > 0 && getRandomValues(unsafe.Pointer(unsafe.SliceData(p)), uint32(len(p))) == 0 {
		return 0, errEntropy
	}
	return len(p), nil
}
