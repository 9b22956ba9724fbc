package worker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/geosql/geosql/internal/declaration"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/serve/internal/pgcatalog"
	"github.com/geosql/geosql/serve/internal/wire"
	"github.com/geosql/geosql/sqlitefn"
)

// limits of a session. psql's and the drivers' questions to the catalogue need less than a quarter of
// each: see TestLimits.
var limits = map[sqlite.Limit]int{
	// An answer may be as long as a heat map: about 250 bytes for each cell that is listed, so that
	// this is room for 400,000. It would be too late to refuse a longer one, which has been paid for.
	sqlite.LimitLength:         100_000_000,
	sqlite.LimitSQLLength:      1_000_000,
	sqlite.LimitColumns:        500,
	sqlite.LimitExprDepth:      100,
	sqlite.LimitCompoundSelect: 50,
	sqlite.LimitProgram:        100_000,
	sqlite.LimitFunctionArgs:   100,
	sqlite.LimitAttached:       0,
	sqlite.LimitLikePattern:    1000,
	sqlite.LimitVariables:      32_766, // SQLite's own bound
	sqlite.LimitTriggerDepth:   1,
	sqlite.LimitWorkers:        0,
}

// busyTimeout bounds a statement's wait while the owner writes, in milliseconds.
const busyTimeout = 2000

// A database is the analyst's connection.
type database struct {
	conn      *sqlite.Conn
	guard     *sqlite.Guard
	inspector *inspector
	catalogue *pgcatalog.Catalogue
	gate      *sqlitefn.Gate
	remote    *noting
	timeout   time.Duration
	sealed    map[uint32]sealedColumn // by number
	gated     map[gateKey]string      // statements that the gate has let through
}

// A sealedColumn is a column of sealed values.
type sealedColumn struct {
	table, column string
	location      bool
}

func openDatabase(config Config, d pgcatalog.Describer, remote sqlitefn.Remote) (_ *database, err error) {
	if config.Memory > 0 {
		if err := sqlite.LimitHeap(config.Memory); err != nil {
			return nil, err
		}
	}
	conn, err := sqlite.Open(config.Path, sqlite.ReadOnly|sqlite.AttachURI)
	if err != nil {
		return nil, fmt.Errorf("database %s cannot be opened: %w", config.Database, err)
	}
	db := &database{conn: conn, remote: &noting{Remote: remote}, sealed: map[uint32]sealedColumn{}, gated: map[gateKey]string{}}
	defer func() {
		if err != nil {
			db.close()
		}
	}()
	conn.BusyTimeout(busyTimeout)
	own, err := names(conn, "SELECT name FROM pragma_function_list")
	if err != nil {
		return nil, err
	}
	modules, err := names(conn, "SELECT name FROM pragma_module_list")
	if err != nil {
		return nil, err
	}
	if err := sqlitefn.RegisterRemote(conn, db.remote); err != nil {
		return nil, err
	}
	if db.catalogue, err = pgcatalog.Install(conn, d); err != nil {
		return nil, err
	}
	if err := db.describe(); err != nil {
		return nil, err
	}
	if err := db.harden(own, modules); err != nil {
		return nil, err
	}
	db.gate = sqlitefn.NewGate(conn)
	return db, nil
}

// names returns the texts in the first column of a query.
func names(conn *sqlite.Conn, sql string) (list []string, err error) {
	err = conn.Each(sql, func(v []sqlite.Value) error {
		list = append(list, v[0].Text())
		return nil
	})
	return list, err
}

// describe reads which columns are sealed.
func (db *database) describe() error {
	return declaration.Each(db.conn, "SELECT number, tbl, col, kind FROM main.geosql_sealed_column", func(v []sqlite.Value) error {
		db.sealed[uint32(v[0].Int())] = sealedColumn{v[1].Text(), v[2].Text(), v[3].Text() == "domain"}
		return nil
	})
}

// harden takes from the connection everything an analyst does not need. own are SQLite's functions, and modules its
// virtual tables: those of geosql and of the catalogue came later.
func (db *database) harden(own, modules []string) error {
	if err := db.conn.Exec("PRAGMA query_only = ON; PRAGMA temp_store = MEMORY; PRAGMA mmap_size = 0"); err != nil {
		return err
	}
	for setting, on := range map[sqlite.Setting]bool{sqlite.Defensive: true, sqlite.TrustedSchema: false, sqlite.WritableSchema: false,
		sqlite.AllowExtensions: false, sqlite.AllowFTS3Tokenizer: false, sqlite.QuotedTextInQueries: false} {
		if err := db.conn.Configure(setting, on); err != nil {
			return err
		}
	}
	for limit, most := range limits {
		db.conn.SetLimit(limit, most)
	}
	permit := sqlite.Permit{Functions: strings.Fields(safeFunctions), Tables: strings.Fields(readableTables)}
	isOwn := map[string]bool{}
	for _, f := range own {
		isOwn[f] = true
	}
	all, err := names(db.conn, "SELECT name FROM pragma_function_list")
	if err != nil {
		return err
	}
	withheld := strings.Fields(withheldFunctions)
	for _, f := range all {
		if !isOwn[f] && !slices.Contains(withheld, f) {
			permit.Functions = append(permit.Functions, f)
		}
	}
	permit.Modules = withheld
	for _, m := range modules {
		if !slices.Contains(safeModules, m) {
			permit.Modules = append(permit.Modules, m)
		}
	}
	if db.inspector, err = newInspector(db.conn, permit.Modules, db.sealed); err != nil {
		return err
	}
	db.guard, err = db.conn.Guard(permit)
	db.inspector.guard = db.guard
	return err
}

// safeModules are the virtual tables of SQLite that only compute. It may list them only once they are used.
var safeModules = []string{"json_each", "json_tree"}

// readableTables are the tables of declarations, which are public.
const readableTables = "geosql_universe geosql_domain geosql_region geosql_markov geosql_prior geosql_cip geosql_optimal"

// withheldFunctions are the free functions that tell about the machine, or that look into the ledger.
const withheldFunctions = "geosql_debug pim_estimate"

// safeFunctions are the functions of SQLite that only compute. Others are refused, such as functions that load code, tell
// about the machine or belong to virtual tables.
const safeFunctions = `-> ->> abs acos acosh asin asinh atan atan2 atanh avg ceil ceiling char coalesce concat concat_ws
	cos cosh count cume_dist current_date current_time current_timestamp date datetime degrees dense_rank exp first_value
	floor format glob group_concat hex if ifnull iif instr json json_array json_array_insert json_array_length
	json_error_position json_extract json_group_array json_group_object json_insert json_object json_patch json_pretty
	json_quote json_remove json_replace json_set json_type json_valid jsonb jsonb_array jsonb_array_insert jsonb_extract
	jsonb_group_array jsonb_group_object jsonb_insert jsonb_object jsonb_patch jsonb_remove jsonb_replace jsonb_set julianday lag
	last_value lead length like likelihood likely ln log log10 log2 lower ltrim max median min mod nth_value ntile nullif
	octet_length percent_rank percentile percentile_cont percentile_disc pi pow power printf quote radians random
	randomblob rank replace round row_number rtrim sign sin sinh soundex sqlite_version sqrt strftime string_agg substr
	substring subtype sum tan tanh time timediff total trim trunc typeof unhex unicode unistr unistr_quote unixepoch
	unlikely upper zeroblob`

// close closes the connection.
func (db *database) close() {
	if db.guard != nil {
		db.guard.Close()
	}
	db.conn.Close()
}

// watch interrupts the connection when a context ends, until the function that it returns is called.
func (db *database) watch(ctx context.Context) (stop func()) {
	done := make(chan struct{})
	unwatch := context.AfterFunc(ctx, func() {
		defer close(done)
		db.conn.Interrupt()
	})
	return func() {
		if !unwatch() {
			<-done // a late interrupt would hit another statement
		}
	}
}

// compile compiles a statement that was rewritten from original.
func (db *database) compile(ctx context.Context, original, sql string) (*sqlite.Stmt, error) {
	defer db.watch(ctx)()
	db.guard.Begin()
	db.guard.SetPatience(db.timeout)
	st, _, err := db.conn.Prepare(sql)
	if e, is := errors.AsType[*sqlite.Error](err); is && strings.Contains(e.Message, noTable) { // the catalogue's, if it is not filled
		filled, failed := db.catalogue.Fill()
		if failed != nil {
			return nil, failed
		}
		if filled {
			db.inspector.tables = nil
			st, _, err = db.conn.Prepare(sql)
		}
	}
	if err != nil {
		return nil, db.compileError(ctx, err, original)
	}
	if st == nil {
		return nil, &wire.Error{Code: "42601", Message: "there is no statement"}
	}
	return st, nil
}
