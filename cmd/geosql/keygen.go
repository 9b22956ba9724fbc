package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"

	"github.com/geosql/geosql/cmd/geosql/internal/store"
	"github.com/geosql/geosql/cmd/geosql/internal/vault"
	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/sealed"
)

var keygenCommand = &cli.Command{
	Name: "keygen", Operands: "KEY", Min: 1, Max: 1,
	Summary: "make a key for sealed values, and its public half",
	Details: `Writes KEY and KEY.pub, which must not exist, for their owner alone. Hand KEY.pub to the
collectors. KEY, with the passphrase if there is one, opens every value that was sealed
for it; nothing else does. KEY also signs a collector's values (geosql append --sign KEY).`,
	Setup: func(flags *flag.FlagSet) cli.Run {
		passphrase := ""
		flags.StringVar(&passphrase, "passphrase-file", "", "encrypt KEY with the passphrase that is the first line of `FILE`")
		return func(_ context.Context, operands []string) error { return generateKey(operands[0], passphrase) }
	},
}

// generateKey writes a new key and its public half. The key is encrypted with the first line of
// a file, unless that has no name.
func generateKey(name, passphraseFile string) error {
	key, err := sealed.GenerateKey()
	if err != nil {
		return err
	}
	marshal := key.MarshalText
	if passphraseFile != "" {
		passphrase, err := readPassphrase(passphraseFile)
		if err != nil {
			return err
		}
		marshal = func() ([]byte, error) { return key.Encrypt(passphrase) }
	}
	if err := writeKey(name, marshal); err != nil {
		return err
	}
	if err := writeKey(name+".pub", key.Public().MarshalText); err != nil {
		_ = os.Remove(name)
		return err
	}
	cli.Say("wrote %s, which opens values sealed with %s.pub: keep it, and keep it to yourself", name, name)
	return nil
}

// readPassphrase returns the first line of a file, which must not be empty.
func readPassphrase(name string) ([]byte, error) {
	line, err := vault.FirstLine(name)
	if err != nil {
		return nil, fmt.Errorf("keygen: %w", err)
	}
	if len(line) == 0 {
		return nil, fmt.Errorf("keygen: the first line of %s is empty, and no passphrase", name)
	}
	return line, nil
}

// writeKey writes a key to a new file, durably, or leaves none.
func writeKey(name string, marshal func() ([]byte, error)) error {
	text, err := marshal()
	if err != nil {
		return err
	}
	err = store.WriteDurably(name, text)
	switch {
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("keygen: %s exists, and a key is never overwritten", name)
	case err != nil:
		return fmt.Errorf("keygen: %w", err)
	}
	return nil
}
