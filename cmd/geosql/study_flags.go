package main

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// takesNoValue tells the flags of boolFlag.
func takesNoValue(f *flag.Flag) bool {
	b, ok := f.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}

func numberFlag(fs *flag.FlagSet, name string, value *float64) {
	fs.Func(name, "", func(v string) (err error) {
		*value, err = number(v)
		return err
	})
}

func numbersFlag(fs *flag.FlagSet, name string, values *[]float64) {
	fs.Func(name, "", func(v string) error {
		*values = nil
		for _, word := range strings.Split(v, ",") {
			x, err := number(word)
			if err != nil {
				return err
			}
			*values = append(*values, x)
		}
		return nil
	})
}

func wordsFlag(fs *flag.FlagSet, name string, words *[]string) {
	fs.Func(name, "", func(v string) error {
		*words = strings.Split(v, ",")
		if slices.Contains(*words, "") {
			return errors.New("a name is empty")
		}
		return nil
	})
}

// number reads a finite number.
func number(text string) (float64, error) {
	x, err := strconv.ParseFloat(trimBlanks(text), 64)
	if err != nil || math.IsInf(x, 0) || math.IsNaN(x) {
		return 0, fmt.Errorf("%q is not a number", text)
	}
	return x, nil
}
