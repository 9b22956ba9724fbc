package cli

import (
	"errors"
	"flag"
	"math"
	"strings"

	"github.com/geosql/geosql/internal/decimal"
)

// takesNoValue reports whether a flag was defined by Switch.
func takesNoValue(f *flag.Flag) bool {
	b, ok := f.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}

// mayRepeat reports whether a flag may be given again: it takes no value, or its values add
// up. With other flags a second value would silently replace the first.
func mayRepeat(f *flag.Flag) bool {
	_, adds := f.Value.(interface{ addsUp() })
	return adds || takesNoValue(f)
}

// Switch defines a flag that takes no value.
func Switch(fs *flag.FlagSet, name, usage string, set func()) {
	fs.BoolFunc(name, usage, func(v string) error {
		if v != "true" {
			return errors.New("it takes no value")
		}
		set()
		return nil
	})
}

// NumberVar defines a flag with a finite number as its value.
func NumberVar(fs *flag.FlagSet, value *float64, name, usage string) {
	fs.Var((*numberValue)(value), name, usage)
}

type numberValue float64

func (v *numberValue) String() string { return decimal.Format(float64(*v)) }

func (v *numberValue) Set(text string) error {
	x, err := Number(text)
	*v = numberValue(x)
	return err
}

// NumbersVar defines a flag with a list of finite numbers as its value.
func NumbersVar(fs *flag.FlagSet, values *[]float64, name, usage string) {
	fs.Var(&list[float64]{values: values, parse: Number, format: decimal.Format}, name, usage)
}

// LevelsVar defines a flag with a list of privacy levels as its value, as Level reads them.
func LevelsVar(fs *flag.FlagSet, values *[]float64, name, usage string) {
	fs.Var(&list[float64]{values: values, parse: Level, format: formatLevel}, name, usage)
}

// WordsVar defines a flag with a list of words as its value.
func WordsVar(fs *flag.FlagSet, words *[]string, name, usage string) {
	parse := func(word string) (string, error) {
		if word == "" {
			return "", errors.New("a name is empty")
		}
		return word, nil
	}
	fs.Var(&list[string]{values: words, parse: parse, format: strings.Clone}, name, usage)
}

// ListVar defines a flag with a list of values that parse reads. It is not split at
// commas.
func ListVar[T any](fs *flag.FlagSet, values *[]T, parse func(text string) (T, error), name, usage string) {
	fs.Var(&series[T]{values, parse}, name, usage)
}

// A series is the value of a flag that adds a value with each use.
type series[T any] struct {
	values *[]T
	parse  func(text string) (T, error)
}

func (s *series[T]) addsUp() {}

func (s *series[T]) String() string { return "" }

func (s *series[T]) Set(text string) error {
	x, err := s.parse(text)
	if err == nil {
		*s.values = append(*s.values, x)
	}
	return err
}

// A list is the value of a flag: values separated by commas, which replace the default. It
// collects the values of all uses of the flag.
type list[T any] struct {
	values *[]T
	parse  func(word string) (T, error)
	format func(T) string
	given  bool
}

func (l *list[T]) addsUp() {}

func (l *list[T]) String() string {
	var words []string
	for _, x := range *l.values {
		words = append(words, l.format(x))
	}
	return strings.Join(words, ",")
}

func (l *list[T]) Set(text string) error {
	if !l.given {
		*l.values, l.given = nil, true
	}
	for word := range strings.SplitSeq(text, ",") {
		x, err := l.parse(word)
		if err != nil {
			return err
		}
		*l.values = append(*l.values, x)
	}
	return nil
}

// formatLevel formats a level, the logarithm of a whole number n as ln n.
func formatLevel(x float64) string {
	if n := math.Round(math.Exp(x)); n > 1 && math.Abs(math.Log(n)-x) < 1e-12 {
		return "ln" + decimal.Format(n)
	}
	return decimal.Format(x)
}

// OptionalVar defines a flag for a text that may be empty. The value stays nil if the flag
// is not given.
func OptionalVar(fs *flag.FlagSet, value **string, name, usage string) {
	fs.Func(name, usage, func(v string) error {
		*value = &v
		return nil
	})
}

// ShareVar defines a flag with a share from 0 to 1 as its value.
func ShareVar(fs *flag.FlagSet, share *float64, name, usage string) {
	fs.Func(name, usage, func(v string) (err error) {
		if *share, err = Number(v); err == nil && !(*share >= 0 && *share <= 1) {
			err = errors.New("it must be from 0 to 1, such as 0.05 for 5 %")
		}
		return err
	})
}

// FileVar defines a flag with the name of a file, which is not empty.
func FileVar(fs *flag.FlagSet, file *string, name, usage string) {
	fs.Func(name, usage, func(v string) (err error) {
		*file, err = FileName(v)
		return err
	})
}

// FileName refuses an empty name of a file.
func FileName(text string) (string, error) {
	if text == "" {
		return "", errors.New("the file has an empty name")
	}
	return text, nil
}
