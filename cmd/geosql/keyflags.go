package main

import (
	"flag"
	"fmt"
	"strconv"

	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/sealed"
	"github.com/geosql/geosql/sqlitefn"
)

// keyFlags holds the flags of commands that open sealed values.
type keyFlags struct {
	files      []string
	passphrase string // the name of a file
	maxRepeat  int
}

func (f *keyFlags) register(fs *flag.FlagSet) {
	cli.ListVar(fs, &f.files, fileName, "key", "open sealed values with the private `KEY`; may be given again")
	fs.StringVar(&f.passphrase, "passphrase-file", "", passphraseUsage)
	f.maxRepeat = 1
	fs.Func("max-repeat", "let a query repeat a sealed value up to `N` times in a group, as joins may (default 1); its account pays as many times", func(v string) error {
		n, err := strconv.Atoi(v)
		if err != nil || n < 1 || n > sqlitefn.MaxRepeat {
			return fmt.Errorf("it must be a whole number from 1 to %d", sqlitefn.MaxRepeat)
		}
		f.maxRepeat = n
		return nil
	})
}

// options returns what a connection needs to open sealed values.
func (f *keyFlags) options() ([]sqlitefn.Option, error) {
	if len(f.files) == 0 {
		return nil, nil
	}
	keys, err := readPrivateKeys(f.files, f.passphrase)
	if err != nil {
		return nil, err
	}
	return []sqlitefn.Option{sqlitefn.WithKeyring(sealed.NewKeyring(keys...)), sqlitefn.WithMaxRepeat(f.maxRepeat)}, nil
}
