package main

import (
	"errors"
	"flag"
	iofs "io/fs"
	"strconv"

	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/ledger/file"
)

// outputFlags are those of every command that answers rows.
type outputFlags struct {
	mode   mode
	ledger ledgerFlags
}

func (f *outputFlags) register(fs *flag.FlagSet) {
	for name, m := range modes {
		cli.Switch(fs, name, modeUsage[m], func() { f.mode = m })
	}
	f.ledger.register(fs, "the ledger of budgets is `FILE`, otherwise DB-ledger beside DB")
}

// ledgerFlags say where the ledger is, and who besides its owner may read or write it.
type ledgerFlags struct {
	file string        // "" is the ledger beside the database
	mode iofs.FileMode // 0 is 0600, or what the ledger has
}

func (f *ledgerFlags) register(fs *flag.FlagSet, usage string) {
	fs.Func("ledger", usage, func(v string) error {
		if v == "" {
			return errors.New("the file has an empty name")
		}
		f.file = v
		return nil
	})
	const modeUsage = "mode of the ledger, `0640|0660`: its group may read it, or charge too; otherwise what is " +
		"made is for its owner alone (0600), and the ledger stays as it is"
	fs.Func("ledger-mode", modeUsage, func(v string) error {
		mode, err := strconv.ParseUint(v, 8, 32)
		if err != nil {
			return errors.New("it is a mode such as 0640")
		}
		f.mode = iofs.FileMode(mode)
		return file.CheckMode(f.mode)
	})
}

// optionalVar defines a flag for a text that may be empty; nil is not given.
func optionalVar(fs *flag.FlagSet, value **string, name, usage string) {
	fs.Func(name, usage, func(v string) error {
		*value = &v
		return nil
	})
}

// checkDatabase refuses a database without a name.
func checkDatabase(path string) error {
	if path == "" {
		return cli.UsageError("the database has an empty name")
	}
	return nil
}
