package postgres

import (
	"cmp"
	"context"
	"crypto/rand"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// migrations has the statements that lead from each version of the schema to the next, in files
// that are named by the version they lead to.
//
//go:embed schema/*.sql
var migrations embed.FS

// Advisory locks. The schema names another one, 0x67656f4c00000001, under which limits are set, and
// which everybody else who writes shares.
const (
	schemaLock = 0x67656f4c_00000002
	factLock   = 0x67656f4c_00000003
)

// version is the version of the schema that this program knows.
const version int64 = 4

// errNoLedger is the error of a database without a ledger.
var errNoLedger = fmt.Errorf("the database has no ledger: %w", fs.ErrNotExist)

// migration leads to a version of the schema.
type migration struct {
	version int
	sql     string
}

// readMigrations returns the migrations in ascending order of their versions, which are 1, 2 and
// so on.
func readMigrations() ([]migration, error) {
	files, err := migrations.ReadDir("schema")
	if err != nil {
		return nil, err
	}
	var all []migration
	for _, f := range files {
		sql, err := migrations.ReadFile("schema/" + f.Name())
		if err != nil {
			return nil, err
		}
		version, err := strconv.Atoi(strings.TrimSuffix(f.Name(), ".sql"))
		if err != nil {
			return nil, err
		}
		all = append(all, migration{version, string(sql)})
	}
	slices.SortFunc(all, func(a, b migration) int { return cmp.Compare(a.version, b.version) })
	return all, nil
}

// prepareSchema brings the schema to the version that this program knows. It makes a ledger only
// with create. It changes nothing if the schema is of that version already, so that a role that
// may only read can open the ledger.
func prepareSchema(ctx context.Context, conn *pgx.Conn, create bool) error {
	known, err := readMigrations()
	if err != nil {
		return err
	}
	have, err := schemaVersion(ctx, conn, len(known))
	if err != nil || have == len(known) {
		return err
	}
	if have == 0 && !create {
		return errNoLedger
	}
	return transact(ctx, conn, pgx.TxOptions{}, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", int64(schemaLock)); err != nil {
			return err
		}
		return migrate(ctx, tx.Conn(), known)
	})
}

// migrate runs the migrations that the schema lacks.
func migrate(ctx context.Context, conn *pgx.Conn, known []migration) error {
	have, err := schemaVersion(ctx, conn, len(known)) // again: another process may have been first
	if err != nil {
		return err
	}
	if have == 0 {
		if err := createLedger(ctx, conn); err != nil {
			return err
		}
	}
	for _, m := range known[have:] {
		if _, err := conn.PgConn().Exec(ctx, m.sql).ReadAll(); err != nil {
			return fmt.Errorf("cannot bring the ledger to version %d: %w", m.version, err)
		}
		if m.version == 1 {
			if _, err := conn.Exec(ctx, "INSERT INTO geosql.meta VALUES ('id', $1)", newID()); err != nil {
				return err
			}
		}
	}
	_, err = conn.Exec(ctx, "INSERT INTO geosql.meta VALUES ('version', $1) ON CONFLICT (key) DO UPDATE SET value = excluded.value", strconv.Itoa(len(known)))
	return err
}

// createLedger checks that the database can hold a ledger and makes its schema.
func createLedger(ctx context.Context, conn *pgx.Conn) error {
	var encoding string
	if err := conn.QueryRow(ctx, "SELECT pg_encoding_to_char(encoding) FROM pg_database WHERE datname = current_database()").Scan(&encoding); err != nil {
		return err
	}
	if encoding != "UTF8" {
		return fmt.Errorf("the database has texts in %s, a ledger has UTF8: CREATE DATABASE .. ENCODING 'UTF8' TEMPLATE template0", encoding)
	}
	_, err := conn.Exec(ctx, "CREATE SCHEMA geosql")
	return err
}

// schemaVersion returns the version of the ledger's schema, or 0 if there is none. One above the newest that this
// program knows is an error.
func schemaVersion(ctx context.Context, conn *pgx.Conn, newest int) (int, error) {
	var schema, meta bool
	err := queryRow(ctx, conn, `
		SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = 'geosql'),
		  EXISTS (SELECT FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname = 'geosql' AND c.relname = 'meta')`,
		nil, &schema, &meta)
	switch {
	case err != nil:
		return 0, err
	case !schema:
		return 0, nil
	case !meta:
		return 0, errors.New("the database has a schema geosql that is no ledger")
	}
	var text string
	if err := queryRow(ctx, conn, "SELECT value FROM geosql.meta WHERE key = 'version'", nil, &text); err != nil {
		return 0, err
	}
	version, err := strconv.Atoi(text)
	switch {
	case err != nil || version < 1:
		return 0, fmt.Errorf("the ledger is damaged: its version is %q", text)
	case version > newest:
		return 0, fmt.Errorf("written by a newer geosql (ledger version %d, this is %d)", version, newest)
	}
	return version, nil
}

// newID returns the ID of a new ledger or writer.
func newID() string {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	return hex.EncodeToString(id[:])
}
