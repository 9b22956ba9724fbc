package main

import (
	"cmp"
	"context"
	"encoding"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"

	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/sealed"
)

var keygenCommand = &cli.Command{
	Name: "keygen", Operands: "KEY", Min: 1, Max: 1,
	Summary: "make a key that opens sealed values, and its public half, which seals them",
	Details: `Writes KEY and KEY.pub, which must not exist, for their owner alone. Hand KEY.pub to whoever
collects. Whoever has KEY can open every value that was sealed for it; without it nobody can.`,
	Setup: func(*flag.FlagSet) cli.Run {
		return func(_ context.Context, operands []string) error { return generateKey(operands[0]) }
	},
}

// generateKey writes a new key and its public half.
func generateKey(name string) error {
	key, err := sealed.GenerateKey()
	if err != nil {
		return err
	}
	if err := writeKey(name, key); err != nil {
		return err
	}
	if err := writeKey(name+".pub", key.Public()); err != nil {
		_ = os.Remove(name)
		return err
	}
	cli.Say("wrote %s, which opens what %s.pub seals: keep it, and keep it to yourself", name, name)
	return nil
}

// writeKey writes a key to a new file, durably, or leaves none.
func writeKey(name string, key encoding.TextMarshaler) error {
	text, err := key.MarshalText()
	if err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("keygen: %s exists, and a key is never overwritten", name)
	}
	if err != nil {
		return fmt.Errorf("keygen: %w", err)
	}
	_, err = f.Write(text)
	if err = cmp.Or(err, f.Sync(), f.Close()); err != nil {
		_ = os.Remove(name)
		return err
	}
	return nil
}
