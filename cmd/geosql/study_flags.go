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

// A repeats knows which flags were given, and that those whose value would replace an
// earlier one are given once: whoever writes two values means both.
type repeats map[string]bool

func (r repeats) add(f *flag.Flag) error {
	switch f.Value.(type) {
	case *listFlag, waitingValue: // the latter are looked at when it is known what they are for
		return nil
	}
	if r[f.Name] && !takesNoValue(f) {
		return errors.New("flag -" + f.Name + " is given twice")
	}
	r[f.Name] = true
	return nil
}

func numberFlag(fs *flag.FlagSet, name string, value *float64) {
	fs.Func(name, "", func(v string) (err error) {
		*value, err = number(v)
		return err
	})
}

func numbersFlag(fs *flag.FlagSet, name string, values *[]float64) {
	parsedFlag(fs, name, values, number)
}

// levelsFlag reads privacy levels: numbers, or logarithms such as ln4.
func levelsFlag(fs *flag.FlagSet, name string, levels *[]float64) {
	parsedFlag(fs, name, levels, level)
}

// A listFlag takes words separated by commas, and more of them where it is given again.
type listFlag struct {
	words []string
	read  func(words []string) error
}

func (l *listFlag) String() string { return "" }

func (l *listFlag) Set(value string) error {
	l.words = append(l.words, strings.Split(value, ",")...)
	return l.read(l.words)
}

// parsedFlag is a list of numbers that parse understands.
func parsedFlag(fs *flag.FlagSet, name string, values *[]float64, parse func(word string) (float64, error)) {
	fs.Var(&listFlag{read: func(words []string) error {
		*values = nil
		for _, word := range words {
			x, err := parse(word)
			if err != nil {
				return err
			}
			*values = append(*values, x)
		}
		return nil
	}}, name, "")
}

func wordsFlag(fs *flag.FlagSet, name string, words *[]string) {
	fs.Var(&listFlag{read: func(all []string) error {
		*words = all
		if slices.Contains(all, "") {
			return errors.New("a name is empty")
		}
		return nil
	}}, name, "")
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
