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
	listFlag(fs, name, values, number)
}

// levelsFlag reads privacy levels: numbers, or logarithms such as ln4.
func levelsFlag(fs *flag.FlagSet, name string, levels *[]float64) {
	listFlag(fs, name, levels, level)
}

// listFlag reads numbers that read understands, separated by commas.
func listFlag(fs *flag.FlagSet, name string, values *[]float64, read func(word string) (float64, error)) {
	fs.Func(name, "", func(v string) error {
		*values = nil
		for _, word := range strings.Split(v, ",") {
			x, err := read(word)
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

// thesisLevels are the privacy levels of the thesis's table 5.1.
func thesisLevels() []float64 { return []float64{math.Ln2, math.Log(4), math.Log(6)} }

// level reads a number, or the logarithm of one above 0.
func level(text string) (float64, error) {
	digits, isLog := strings.CutPrefix(trimBlanks(text), "ln")
	x, err := number(digits)
	if err != nil || isLog && x <= 0 {
		return 0, fmt.Errorf("%q is not like 1.386 or ln4", text)
	}
	if isLog {
		x = math.Log(x)
	}
	return x, nil
}

// number reads a finite number.
func number(text string) (float64, error) {
	x, err := strconv.ParseFloat(trimBlanks(text), 64)
	if err != nil || math.IsInf(x, 0) || math.IsNaN(x) {
		return 0, fmt.Errorf("%q is not a number", text)
	}
	return x, nil
}
