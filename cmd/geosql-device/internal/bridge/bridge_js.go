// Package bridge has the functions of a Go module for WebAssembly called from JavaScript.
package bridge

import (
	"encoding/binary"
	"errors"
	"math"
	"os"
	"syscall/js"
)

// Serve hands functions to the function of JavaScript that the module's first argument names, and waits for calls. It does not return.
func Serve(functions map[string]any) {
	js.Global().Call(os.Args[1], functions)
	select {}
}

// errArgument is the error of a call that panics. The JavaScript of the package checks the arguments of its users before.
var errArgument = errors.New("an argument has another type than the package's types say")

// Function returns a function of JavaScript. It returns an Error if f does, or panics, in place of throwing it, which Go cannot.
func Function(f func(args []js.Value) (any, error)) js.Func {
	return js.FuncOf(func(_ js.Value, args []js.Value) (result any) {
		defer func() {
			if p := recover(); p != nil {
				result = newError(errArgument)
			}
		}()
		v, err := f(args)
		if err != nil {
			return newError(err)
		}
		return v
	})
}

// A Detailed is an error with fields for programs, which are the details of the Error.
type Detailed interface {
	error
	Details() map[string]any
}

func newError(err error) js.Value {
	e := js.Global().Get("Error").New(err.Error())
	if d, ok := err.(Detailed); ok {
		e.Set("details", d.Details())
	}
	return e
}

// Numbers returns the numbers of a Float64Array.
func Numbers(array js.Value) []float64 {
	bytes := make([]byte, array.Get("byteLength").Int())
	js.CopyBytesToGo(bytes, js.Global().Get("Uint8Array").New(array.Get("buffer")))
	numbers := make([]float64, len(bytes)/8)
	for i := range numbers {
		numbers[i] = math.Float64frombits(binary.LittleEndian.Uint64(bytes[8*i:]))
	}
	return numbers
}

// Elements yields the elements of an array.
func Elements(array js.Value) func(yield func(js.Value) bool) {
	return func(yield func(js.Value) bool) {
		for i := range array.Length() {
			if !yield(array.Index(i)) {
				return
			}
		}
	}
}
