package vault

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/sealed"
	"github.com/geosql/geosql/sealed/catalog"
)

// passphraseUsage is the usage of the flag -passphrase-file of commands that read private keys.
const passphraseUsage = "open encrypted keys with the passphrases in `FILE`, one a line"

// FirstLine returns the first line of a file, without its end.
func FirstLine(name string) ([]byte, error) {
	text, err := os.ReadFile(name)
	line, _, _ := bytes.Cut(text, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r")), err
}

// ReadPrivateKeys returns the private keys in files. The lines of the passphrase file, if it has a name,
// are tried for encrypted keys.
func ReadPrivateKeys(names []string, passphraseFile string) ([]*sealed.PrivateKey, error) {
	var passphrases [][]byte
	if passphraseFile != "" {
		text, err := os.ReadFile(passphraseFile)
		if err != nil {
			return nil, err
		}
		for line := range bytes.Lines(text) {
			if line = bytes.TrimRight(line, "\r\n"); len(line) > 0 {
				passphrases = append(passphrases, line)
			}
		}
		if len(passphrases) == 0 {
			return nil, fmt.Errorf("%s holds no passphrase", passphraseFile)
		}
	}
	var keys []*sealed.PrivateKey
	for _, name := range names {
		key, err := readPrivateKey(name, passphrases)
		if err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// readPrivateKey returns the private key in a file. If it is encrypted, one of the passphrases
// must be its own.
func readPrivateKey(name string, passphrases [][]byte) (*sealed.PrivateKey, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	key, err := sealed.ParsePrivateKey(text, nil)
	for _, p := range passphrases {
		if !errors.Is(err, sealed.ErrPassphrase) {
			break
		}
		key, err = sealed.ParsePrivateKey(text, func() ([]byte, error) { return p, nil })
	}
	switch {
	case errors.Is(err, sealed.ErrPassphrase) && len(passphrases) == 0:
		return nil, fmt.Errorf("%s is encrypted: give --passphrase-file FILE", name)
	case errors.Is(err, sealed.ErrPassphrase):
		return nil, fmt.Errorf("%s is encrypted with another passphrase than that of --passphrase-file", name)
	case err != nil:
		if _, public := sealed.ParsePublicKey(text); public == nil {
			return nil, fmt.Errorf("%s is the public half of a key: give the private one", name)
		}
		return nil, fmt.Errorf("%s %w", name, err)
	}
	return key, nil
}

// CheckSealedFor returns an error unless a database is sealed for the key in a file.
func CheckSealedFor(conn *sqlite.Conn, path string, key sealed.PublicKey, name string) error {
	known, err := catalog.HasKey(conn, key.ID())
	if err == nil && !known {
		err = fmt.Errorf("%s is not a key that %s is sealed for", name, path)
	}
	return err
}

// ReadPublicKey returns the public key in a file.
func ReadPublicKey(name string) (sealed.PublicKey, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return sealed.PublicKey{}, err
	}
	key, err := sealed.ParsePublicKey(text)
	if err != nil {
		return sealed.PublicKey{}, fmt.Errorf("%s %w", name, err)
	}
	return key, nil
}
