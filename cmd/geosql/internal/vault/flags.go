package vault

import (
	"flag"
	"fmt"
	"strconv"

	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/sealed"
	"github.com/geosql/geosql/sqlitefn"
)

// KeyFlags holds the flags of commands that read private keys.
type KeyFlags struct {
	Names      []string
	Passphrase string // the name of a file
}

func (f *KeyFlags) Register(fs *flag.FlagSet, usage string) {
	cli.ListVar(fs, &f.Names, cli.FileName, "key", usage)
	f.registerPassphrase(fs)
}

func (f *KeyFlags) registerPassphrase(fs *flag.FlagSet) {
	fs.StringVar(&f.Passphrase, "passphrase-file", "", passphraseUsage)
}

// QueryFlags holds the flags of commands that run queries over sealed values.
type QueryFlags struct {
	Keys      KeyFlags
	maxRepeat int
}

func (f *QueryFlags) Register(fs *flag.FlagSet) {
	f.Keys.Register(fs, "open sealed values with the private key in `KEY`; repeatable")
	f.maxRepeat = 1
	fs.Func("max-repeat", "let joins repeat a sealed value `N` times, at N times the cost", func(v string) (err error) {
		f.maxRepeat, err = ParseRepeats(v)
		return err
	})
}

// Options returns the options of a connection that opens sealed values.
func (f *QueryFlags) Options() ([]sqlitefn.Option, error) {
	if len(f.Keys.Names) == 0 {
		return nil, nil
	}
	keys, err := ReadPrivateKeys(f.Keys.Names, f.Keys.Passphrase)
	if err != nil {
		return nil, err
	}
	return []sqlitefn.Option{sqlitefn.WithKeyring(sealed.NewKeyring(keys...)), sqlitefn.WithMaxRepeat(f.maxRepeat)}, nil
}

// ParseRepeats reads how often a group may have a sealed value.
func ParseRepeats(v string) (int, error) {
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 || n > sqlitefn.MaxRepeat {
		return 0, fmt.Errorf("it must be a whole number from 1 to %d", sqlitefn.MaxRepeat)
	}
	return n, nil
}
