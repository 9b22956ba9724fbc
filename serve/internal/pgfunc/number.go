package pgfunc

import (
	"math"
	"strconv"
	"strings"
)

// number reads a value as a number.
func number(v any) (n float64, ok bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// less is the order of SQLite: numbers, then texts, then blobs.
func less(x, y any) bool {
	m, isNumber := number(x)
	n, too := number(y)
	if isNumber && too {
		return m < n
	}
	rank := func(v any) int {
		switch v.(type) {
		case int64, float64:
			return 0
		case string:
			return 1
		}
		return 2
	}
	if rank(x) != rank(y) {
		return rank(x) < rank(y)
	}
	return Text(x) < Text(y)
}

// extreme is greatest, or least if sign is -1. It leaves out NULLs.
func extreme(sign int) func(a []any) (any, error) {
	return func(a []any) (found any, _ error) {
		for _, v := range a {
			if v != nil && (found == nil || sign > 0 && less(found, v) || sign < 0 && less(v, found)) {
				found = v
			}
		}
		return found, nil
	}
}

// several are as many arguments as a call may list.
var several = []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}

// addNumbers adds the functions of numbers, and those that choose among values.
func (l *library) addNumbers() {
	l.add("greatest", "any", false, several, extreme(1))
	l.add("least", "any", false, several, extreme(-1))
	l.add("width_bucket", "int4", true, []int{2, 4}, widthBucket)
	l.add("div", "float8", true, []int{2}, func(a []any) (any, error) {
		x, y, err := twoNumbers("div", a)
		if err == nil && y == 0 {
			err = &Error{Code: CodeBadParameter, Message: "division by zero"}
		}
		return math.Trunc(x / y), err
	})
	l.add("trunc", "float8", true, []int{2}, func(a []any) (any, error) {
		x, n, err := twoNumbers("trunc", a)
		text := strconv.FormatFloat(x, 'f', -1, 64) // the decimals that are shown
		if point := strings.IndexByte(text, '.'); n >= 0 && n < 400 && point >= 0 && point+1+int(n) < len(text) {
			x, _ = strconv.ParseFloat(text[:point+1+int(n)], 64)
		} else if n < 0 {
			p := math.Pow10(-int(max(n, -400)))
			x = math.Trunc(x/p) * p
		}
		return x, err
	})
}

func twoNumbers(name string, a []any) (x, y float64, err error) {
	x, ok := number(a[0])
	y, too := number(a[1])
	if !ok || !too {
		err = &Error{Code: CodeBadText, Message: name + " takes numbers"}
	}
	return x, y, err
}

// widthBucket is width_bucket(x, lo, hi, n), or of the lower ends of buckets in an array.
func widthBucket(a []any) (any, error) {
	x, ok := number(a[0])
	bad := &Error{Code: CodeBadParameter, Message: "width_bucket takes a number, two different ends and a number of buckets above 0"}
	if !ok {
		return nil, bad
	}
	if len(a) == 2 {
		ends, _, err := parseArray(Text(a[1]))
		n := 0
		for _, e := range ends {
			end, err := strconv.ParseFloat(Text(e), 64)
			if err != nil {
				return nil, bad
			}
			if x >= end {
				n++
			}
		}
		return n, err
	}
	lo, isLow := number(a[1])
	hi, isHigh := number(a[2])
	n, isWhole := a[3].(int64)
	if !isLow || !isHigh || !isWhole || n <= 0 || n > math.MaxInt32 || lo == hi {
		return nil, bad
	}
	if lo > hi {
		x, lo, hi = -x, -lo, -hi
	}
	switch {
	case x < lo:
		return 0, nil
	case x >= hi:
		return n + 1, nil
	}
	return int64(float64(n)*((x-lo)/(hi-lo))) + 1, nil
}
