package collect

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/geosql/geosql/cmd/geosql/internal/vault"
	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/sealed"
	"github.com/geosql/geosql/sealed/catalog"
)

// An entrant adds accounts to a database in a session that begins with the first one.
type entrant struct {
	v      *vault.Vault
	key    vault.KeyFlags
	sealer *sealed.Sealer
}

// enter adds a name with a new number and pseudonym.
func (e *entrant) enter(name string) (a sealed.Account, err error) {
	if e.sealer == nil {
		keys, err := vault.ReadPrivateKeys(e.key.Names[:1], e.key.Passphrase)
		if err != nil {
			return a, err
		}
		signer, err := e.v.EnrolOnce("accounts")
		if err == nil {
			e.sealer, err = catalog.NewSession(e.v.Conn, *e.v.Record.Database, keys[0].Public(), signer)
		}
		if err != nil {
			return a, err
		}
	}
	a = sealed.NewAccount()
	entry, err := e.sealer.SealAccount(a.Number, name)
	if err == nil {
		err = catalog.AddAccount(e.v.Conn, a.Pseudonym, entry)
	}
	return a, err
}

// A namedAccount is a collector's view of an account.
type namedAccount struct {
	name string
	sealed.Account
}

// accountsHeader is the first line of a file of accounts.
var accountsHeader = []string{"account", "number", "pseudonym"}

// writeAccounts writes a file of accounts.
func writeAccounts(w io.Writer, list []namedAccount) error {
	out := bufio.NewWriter(w)
	line := func(cells ...string) {
		for i, c := range cells {
			if i > 0 {
				out.WriteByte(',')
			}
			if strings.ContainsAny(c, ",;\t\"\r\n") || strings.TrimSpace(c) != c {
				c = `"` + strings.ReplaceAll(c, `"`, `""`) + `"`
			}
			out.WriteString(c)
		}
		out.WriteByte('\n')
	}
	line(accountsHeader...)
	for _, a := range list {
		line(a.name, strconv.FormatUint(a.Number, 10), a.Pseudonym)
	}
	return out.Flush()
}

// readAccounts reads a file that writeAccounts has written.
func readAccounts(ctx context.Context, path string) (map[string]sealed.Account, error) {
	all := map[string]sealed.Account{}
	columns := [][]string{{accountsHeader[0]}, {accountsHeader[1]}, {accountsHeader[2]}}
	err := cli.ReadColumns(ctx, path, columns, func(where func() string, cells []string) error {
		number, err := strconv.ParseUint(cells[1], 10, 64)
		if err != nil {
			return errors.New("the number is none of 'geosql collector OUT accounts'")
		}
		if !isPseudonym(cells[2]) {
			return errors.New("the pseudonym has other than 16 hexadecimal digits")
		}
		if err := sealed.CheckAccountName(cells[0]); err != nil {
			return err
		}
		a := sealed.Account{Number: number, Pseudonym: cells[2]}
		if earlier, there := all[cells[0]]; there && earlier != a {
			return fmt.Errorf("account '%s' has another number above", cells[0])
		}
		all[cells[0]] = a
		return nil
	})
	return all, err
}

// isPseudonym reports whether a text has 16 hexadecimal digits.
func isPseudonym(text string) bool {
	return len(text) == 16 && strings.Trim(text, "0123456789abcdef") == ""
}

// readNames returns the lines of a file, each once.
func readNames(path string) (names []string, err error) {
	text, err := readFileOrZip(path)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	number := 0
	for line := range bytes.Lines(bytes.TrimPrefix(text, []byte("\ufeff"))) {
		number++
		name := string(bytes.TrimRight(line, "\r\n"))
		if name == "" || seen[name] {
			continue
		}
		if err := sealed.CheckAccountName(name); err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", path, number, err)
		}
		seen[name] = true
		names = append(names, name)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s holds no names", path)
	}
	return names, nil
}

// readFileOrZip returns the contents of a file, which may be compressed.
func readFileOrZip(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if !strings.HasSuffix(path, ".gz") {
		return io.ReadAll(f)
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return text, z.Close()
}
