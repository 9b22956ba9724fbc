// Package bridge carries calls from JavaScript to a Go module for WebAssembly. Both sides share a buffer: a call is JSON in
// it, and so is the answer. Draws take and return numbers only.
package bridge

import (
	"encoding/json"
	"fmt"
)

// Functions are the functions of a module, by name.
type Functions map[string]func(arguments []byte) (any, error)

// Function returns the function that decodes its arguments from a JSON object. JavaScript has checked their types.
func Function[A any](f func(A) (any, error)) func([]byte) (any, error) {
	return func(arguments []byte) (any, error) {
		var a A
		if err := json.Unmarshal(arguments, &a); err != nil {
			return nil, err
		}
		return f(a)
	}
}

// An answer is one of its fields.
type answer struct {
	Value any    `json:"value,omitempty"`
	Error string `json:"error,omitempty"`
	More  any    `json:"more,omitempty"` // of an error that is a Detailed
}

// A Detailed is an error with fields for programs.
type Detailed interface {
	error
	Details() any
}

// Call answers a call, a JSON object with the name of a function and its arguments.
func (f Functions) Call(request []byte) []byte {
	value, err := f.call(request)
	a := answer{Value: value}
	if err != nil {
		a = answer{Error: err.Error()}
		if d, ok := err.(Detailed); ok {
			a.More = d.Details()
		}
	}
	text, err := json.Marshal(a)
	if err != nil {
		text, _ = json.Marshal(answer{Error: err.Error()})
	}
	return text
}

func (f Functions) call(request []byte) (value any, err error) {
	defer recovered(&err)
	var r struct {
		Function  string          `json:"function"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if err := json.Unmarshal(request, &r); err != nil {
		return nil, err
	}
	called, ok := f[r.Function]
	if !ok {
		return nil, fmt.Errorf("there is no function %s", r.Function)
	}
	return called(r.Arguments)
}

// recovered makes an error of a panic, such as that of a draw without entropy, so that the module goes on.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%v", p)
	}
}

// Handles are values that JavaScript holds by number.
type Handles[T any] struct {
	values map[uint32]T
	last   uint32
}

// Add returns the number of a value.
func (h *Handles[T]) Add(value T) uint32 {
	if h.values == nil {
		h.values = map[uint32]T{}
	}
	h.last++
	h.values[h.last] = value
	return h.last
}

// Get returns the value of a number.
func (h *Handles[T]) Get(number uint32) (T, error) {
	value, ok := h.values[number]
	if !ok {
		return value, fmt.Errorf("there is no handle %d", number)
	}
	return value, nil
}

// Drop forgets a value.
func (h *Handles[T]) Drop(number uint32) { delete(h.values, number) }
