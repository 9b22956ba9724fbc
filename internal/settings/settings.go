// Package settings reads the settings of a mechanism from an object written by people, in JSON or in the language of a host.
// Keys are case-sensitive. An unknown or repeated key is an error, and errors name the key.
package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/geosql/geosql/budget"
)

// Values holds the values of an object that have not been read yet, and the first
// error. It must not be used concurrently.
type Values struct {
	keys   []string
	values map[string]value
	err    error
}

// A value stores itself in a target, if that has its type. It prints as it was written.
type value interface {
	read(target any) error
	fmt.Stringer
}

// Of returns the values of a host's object, each a string or a finite float64.
func Of(object map[string]any, keys ...string) (*Values, error) {
	v := &Values{keys: keys, values: map[string]value{}}
	for key, x := range object {
		if !slices.Contains(keys, key) {
			return nil, unknown(key, keys)
		}
		v.values[key] = plain{x}
	}
	return v, nil
}

func unknown(key string, keys []string) error {
	return fmt.Errorf("key %q is unknown: there are %s", key, strings.Join(keys, ", "))
}

// Parse splits a JSON object into its values. Unlike json.Unmarshal into a struct, it
// distinguishes keys that differ by case and refuses repeated keys. Errors show the
// example.
func Parse(text []byte, example string, keys ...string) (*Values, error) {
	notAnObject := fmt.Errorf("settings must be one JSON object, such as %s", example)
	d := json.NewDecoder(bytes.NewReader(text))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, notAnObject
	}
	v := &Values{keys: keys, values: map[string]value{}}
	for d.More() {
		token, err := d.Token()
		key, ok := token.(string)
		if err != nil || !ok {
			return nil, notAnObject
		}
		if !slices.Contains(keys, key) {
			return nil, unknown(key, keys)
		}
		if v.Has(key) {
			return nil, fmt.Errorf("%s is given twice", key)
		}
		var text json.RawMessage
		if err := d.Decode(&text); err != nil {
			return nil, fmt.Errorf("%s has no JSON value", key)
		}
		v.values[key] = written(text)
	}
	if _, err := d.Token(); err != nil { // the closing brace
		return nil, notAnObject
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, notAnObject
	}
	return v, nil
}

// Has reports whether a key is given and has not been read yet.
func (v *Values) Has(key string) bool { return v.values[key] != nil }

// Fail records an error, unless there is one already.
func (v *Values) Fail(format string, args ...any) {
	if v.err == nil {
		v.err = fmt.Errorf(format, args...)
	}
}

// Require reads the value of a key as Read does, and fails if the key is missing.
func (v *Values) Require(key string, target any) {
	if !v.Has(key) {
		v.Fail("%s is missing", key)
	}
	v.Read(key, target)
}

// Read reads the value of a key, if it is given, into a *string, *int, *int64 or
// *float64.
func (v *Values) Read(key string, target any) {
	value, given := v.values[key]
	if !given {
		return
	}
	delete(v.values, key)
	if err := value.read(target); err != nil {
		v.Fail("%s must be %s, not %.40q", key, kindOf(target), value)
	}
}

var errType = errors.New("another type")

// written is a value in JSON.
type written json.RawMessage

func (w written) String() string { return string(w) }

func (w written) read(target any) error {
	if string(w) == "null" {
		return errType
	}
	return json.Unmarshal(w, target)
}

// A plain value is a string or a finite float64, or else no value.
type plain struct{ any }

func (p plain) String() string { return fmt.Sprint(p.any) }

func (p plain) read(target any) error {
	number, isNumber := p.any.(float64)
	isNumber = isNumber && !math.IsNaN(number) && !math.IsInf(number, 0)
	whole := isNumber && number == math.Trunc(number) && math.Abs(number) < 1<<53
	switch t := target.(type) {
	case *string:
		var ok bool
		if *t, ok = p.any.(string); ok {
			return nil
		}
	case *float64:
		if *t = number; isNumber {
			return nil
		}
	case *int:
		if *t = int(number); whole {
			return nil
		}
	case *int64:
		if *t = int64(number); whole {
			return nil
		}
	}
	return errType
}

func kindOf(target any) string {
	switch target.(type) {
	case *string:
		return "a text"
	case *int, *int64:
		return "a whole number"
	default:
		return "a number"
	}
}

// Amount reads the value of a key, if it is given, as the decimal that was written, rounded
// down to a multiple of 1e-12.
func (v *Values) Amount(key string, target *budget.Amount) {
	if !v.Has(key) {
		return
	}
	var number float64
	v.Read(key, &number)
	if v.err != nil {
		return
	}
	amount, err := budget.Limit(budget.Decimal(number))
	switch {
	case number < 0:
		v.Fail("%s must not be below 0", key)
	case err != nil:
		v.Fail("%s must be at most %v", key, budget.Max)
	}
	*target = amount
}

// Finish returns the first error. Values that were not read need only have the right type:
// text for the keys in texts, a number for the others.
func (v *Values) Finish(texts ...string) error {
	var text string
	var number float64
	for _, key := range v.keys {
		if slices.Contains(texts, key) {
			v.Read(key, &text)
		} else {
			v.Read(key, &number)
		}
	}
	return v.err
}
