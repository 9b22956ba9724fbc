package main

import (
	"errors"
	"flag"

	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/sealed"
	"github.com/geosql/geosql/sqlitefn"
)

// keyFlags holds the flags of commands that read private keys.
type keyFlags struct {
	names      []string
	passphrase string // the name of a file
}

func (f *keyFlags) register(fs *flag.FlagSet, usage string) {
	cli.ListVar(fs, &f.names, fileName, "key", usage)
	f.registerPassphrase(fs)
}

func (f *keyFlags) registerPassphrase(fs *flag.FlagSet) {
	fs.StringVar(&f.passphrase, "passphrase-file", "", passphraseUsage)
}

// fileName refuses an empty name of a file.
func fileName(text string) (string, error) {
	if text == "" {
		return "", errors.New("the file has an empty name")
	}
	return text, nil
}

// sealedFlags holds the flags of commands that run queries over sealed values.
type sealedFlags struct {
	keys      keyFlags
	maxRepeat int
}

func (f *sealedFlags) register(fs *flag.FlagSet) {
	f.keys.register(fs, "open sealed values with the private key in `KEY`; repeatable")
	f.maxRepeat = 1
	fs.Func("max-repeat", "let a group have a sealed value up to `N` times, as after joins; its account pays N times", func(v string) (err error) {
		f.maxRepeat, err = parseRepeats(v)
		return err
	})
}

// options returns what a connection needs to open sealed values.
func (f *sealedFlags) options() ([]sqlitefn.Option, error) {
	if len(f.keys.names) == 0 {
		return nil, nil
	}
	keys, err := readPrivateKeys(f.keys.names, f.keys.passphrase)
	if err != nil {
		return nil, err
	}
	return []sqlitefn.Option{sqlitefn.WithKeyring(sealed.NewKeyring(keys...)), sqlitefn.WithMaxRepeat(f.maxRepeat)}, nil
}
