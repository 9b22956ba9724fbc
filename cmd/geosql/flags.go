package main

import (
	"errors"
	"flag"
	iofs "io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/ledger/engines"
	"github.com/geosql/geosql/ledger/file"
)

// outputFlags holds the flags of every command that prints rows.
type outputFlags struct {
	mode   mode
	ledger ledgerFlags
	sealed sealedFlags // of commands that run queries
}

func (f *outputFlags) register(fs *flag.FlagSet) {
	registerModes(fs, &f.mode)
	f.ledger.register(fs, "keep the budgets in `FILE`, or at a postgres:// URL (default DB-ledger, beside DB)")
}

// ledgerFlags holds the flags that say where the ledger is, and who besides its owner may
// read or write it.
type ledgerFlags struct {
	file string        // or a URL; "" is the ledger beside the database
	mode iofs.FileMode // 0 is 0600, or what the ledger has
}

// check refuses a text that names no ledger, and a mode of one on a server. A flag's own error would
// repeat the text, which may hold a password.
func (f ledgerFlags) check() error {
	if f.file == "" {
		return nil
	}
	if err := engines.Check(f.file); err != nil {
		return cli.UsageError("-ledger: " + err.Error())
	}
	if f.onServer() && f.mode != 0 {
		return cli.UsageError("-ledger-mode is for ledgers in files: who may use one on a server is said there, with GRANT")
	}
	return nil
}

// onServer reports whether the ledger is on a server.
func (f ledgerFlags) onServer() bool { return engines.IsURL(f.file) }

// registerFile defines the flag that says where the ledger is.
func (f *ledgerFlags) registerFile(fs *flag.FlagSet, usage string) {
	fs.Func("ledger", usage, func(v string) error {
		if v == "" {
			return errors.New("the file has an empty name")
		}
		f.file = v
		return nil
	})
}

func (f *ledgerFlags) register(fs *flag.FlagSet, usage string) {
	f.registerFile(fs, usage)
	const modeUsage = "set the mode of the ledger to `0640|0660`: its group may read it, or also charge; " +
		"without this flag a new ledger is for its owner alone (0600), and an existing one keeps its mode"
	fs.Func("ledger-mode", modeUsage, func(v string) error {
		if !hasModes {
			return errors.New("files have no modes on this system: give the ledger's folder the permissions")
		}
		mode, err := strconv.ParseUint(v, 8, 32)
		if err != nil {
			return errors.New("the mode must be like 0640")
		}
		f.mode = iofs.FileMode(mode)
		return file.CheckMode(f.mode)
	})
}

// optionalVar defines a flag for a text that may be empty. The value stays nil if the flag
// is not given.
func optionalVar(fs *flag.FlagSet, value **string, name, usage string) {
	fs.Func(name, usage, func(v string) error {
		*value = &v
		return nil
	})
}

// rejectDatabase returns "" if a database has the name, or may be created under it. A name
// with neither dot nor separator may be a mistyped command, so under it none is created, and
// rejectDatabase returns what to write instead.
func rejectDatabase(path string) (instead string) {
	if strings.ContainsAny(path, "./:"+string(filepath.Separator)) { // such as :memory:
		return ""
	}
	if _, err := os.Lstat(path); err == nil {
		return ""
	}
	if strings.ContainsAny(path, " \t\r\n;") {
		return "SQL stands after the name of a database"
	}
	return "write ./" + path + " to create a database of that name"
}

// checkDatabase refuses an empty name of a database, and the URL of a ledger.
func checkDatabase(path string) error {
	switch {
	case path == "":
		return cli.UsageError("the database has an empty name")
	case engines.IsURL(path):
		return cli.UsageError("a database is a file, and not on a server: a URL names a ledger, as in --ledger URL or 'geosql budget URL'")
	}
	return nil
}

// epsilonVar defines the flag -epsilon of the SQL command. The value is a number in decimals.
func epsilonVar(fs *flag.FlagSet, epsilon *string) {
	const usage = "make built-in aggregates over sealed columns private"
	fs.Func("epsilon", usage+", at `E`", func(v string) error {
		x, err := cli.Number(v)
		if err == nil && !(x > 0) {
			err = errors.New("it must be above 0, such as 0.1")
		}
		*epsilon = strconv.FormatFloat(x, 'f', -1, 64)
		return err
	})
}

// shareVar defines a flag whose value is a share from 0 to 1.
func shareVar(fs *flag.FlagSet, share *float64, name, usage string) {
	fs.Func(name, usage, func(v string) (err error) {
		if *share, err = cli.Number(v); err == nil && !(*share >= 0 && *share <= 1) {
			err = errors.New("it must be from 0 to 1, such as 0.05 for 5 %")
		}
		return err
	})
}
