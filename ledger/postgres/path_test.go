package postgres

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/geosql/geosql/internal/pgtest"
)

// plantSQL creates, in schema public, a function for each of the server's that can have one with the same arguments, an
// operator for each of its operators, and types with the names of some of its. All functions fail.
const plantSQL = `
DO $plant$
DECLARE
  f record;
BEGIN
  FOR f IN SELECT proname AS name, pg_get_function_identity_arguments(p.oid) AS arguments, proargtypes AS types FROM pg_proc AS p
      WHERE pronamespace = 'pg_catalog'::regnamespace AND prokind IN ('f', 'a', 'w') LOOP
    BEGIN
      EXECUTE format('CREATE FUNCTION public.%I(%s) RETURNS %s LANGUAGE plpgsql AS $f$ BEGIN RAISE EXCEPTION ''public.%s was called''; END $f$',
        f.name, (SELECT string_agg(format_type(t, NULL), ', ' ORDER BY n) FROM unnest(f.types) WITH ORDINALITY AS a(t, n)),
        (SELECT format_type(prorettype, NULL) FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace AND proname = f.name AND proargtypes = f.types LIMIT 1), f.name);
    EXCEPTION WHEN OTHERS THEN NULL; -- such as functions of type internal
    END;
  END LOOP;
  FOR f IN SELECT oprname AS name, oprleft::regtype AS a, oprright::regtype AS b, oprresult::regtype AS result FROM pg_operator
      WHERE oprnamespace = 'pg_catalog'::regnamespace AND oprkind = 'b' LOOP
    BEGIN
      EXECUTE format('CREATE FUNCTION public.operator_called(%s, %s) RETURNS %s LANGUAGE plpgsql AS $f$ BEGIN RAISE EXCEPTION ''an operator of public was called''; END $f$',
        f.a, f.b, f.result);
    EXCEPTION WHEN OTHERS THEN NULL; -- there is one
    END;
    BEGIN
      EXECUTE format('CREATE OPERATOR public.%s (FUNCTION = public.operator_called, LEFTARG = %s, RIGHTARG = %s)', f.name, f.a, f.b);
    EXCEPTION WHEN OTHERS THEN NULL;
    END;
  END LOOP;
END $plant$;
CREATE DOMAIN public.uuid AS pg_catalog.bool;
CREATE DOMAIN public.text AS pg_catalog.bool;
CREATE DOMAIN public.tid AS pg_catalog.bool`

// hostileDatabase creates a database in which sessions find functions, operators and types of schema public before the server's
// own.
func hostileDatabase(t testing.TB) string {
	t.Helper()
	where := pgtest.Start(t).Copy(t, "planted", func(url string) { spoil(t, url, plantSQL) })
	config, err := pgx.ParseConfig(where)
	check(t, err)
	spoil(t, where, "ALTER DATABASE "+config.Database+" SET search_path = public, pg_catalog") // the template's is not copied
	return where
}

// Planted functions are called by statements that name no schema.
func TestPlantedFunctions(t *testing.T) {
	conn, err := pgx.Connect(t.Context(), hostileDatabase(t))
	check(t, err)
	defer conn.Close(t.Context())
	for _, sql := range []string{
		"SELECT now()", "SELECT pg_is_in_recovery()", "SELECT cardinality(ARRAY['a'])", "SELECT max(x) FROM (VALUES (1::int8)) AS t(x)", "SELECT 1::int8 = 1::int8",
		"SELECT 1::int8 + 1::int8", "SELECT 'x'::uuid", "SELECT clock_timestamp()", "SELECT pg_advisory_xact_lock(1::int8)", "SELECT set_config('a.b', 'c', true)",
	} {
		if _, err := conn.PgConn().Exec(t.Context(), sql).ReadAll(); err == nil {
			t.Errorf("%s calls the server's own", sql)
		}
	}
}

// A function that fits better than the server's own is called although the server's schema comes first in every path. Without
// balances that grow, an account could be charged without limit.
func TestPlantedFunctionThatFitsBetter(t *testing.T) {
	where := pgtest.Start(t).Database(t)
	spoil(t, where, "CREATE FUNCTION public.cardinality(tid[]) RETURNS integer LANGUAGE sql AS 'SELECT 0'")
	l := open(t, where)
	check(t, l.SetLimit("*", unit, one, 0))
	for range 10 {
		check(t, l.Charge("f", unit, items(tenth, "ana")))
	}
	if !refused(t, l.Charge("f", unit, items(tenth, "ana"))) {
		t.Error("an account was charged beyond its limit")
	}
}

// The rest works among planted functions too, beside the conformance suite: to verify and to archive, to accept a loss
// and to move.
func TestOthersAmongPlantedFunctions(t *testing.T) {
	otherMachine(t)
	where := hostileDatabase(t)
	l, two := fill(t, where)
	check(t, two.ReturnPools())
	head, err := l.Head()
	check(t, err)
	path := filepath.Join(t.TempDir(), "archive")
	if n, err := l.Archive(path, time.Now().Add(time.Hour)); err != nil || n == 0 {
		t.Errorf("%d entries are archived, %v", n, err)
	}
	check(t, verify(l, path, &head))
	_, err = Accept(where, true)
	check(t, err)

	from, err := NewPlace(where)
	check(t, err)
	defer from.Close()
	to, err := NewPlace(hostileDatabase(t))
	check(t, err)
	defer to.Close()
	check(t, from.Retire("elsewhere"))
	check(t, from.Read(to.Arrive))
	check(t, to.Complete())
	_, err = to.Verify(nil)
	check(t, err)
	if s, err := from.State(); err != nil || s.Retired != "elsewhere" {
		t.Errorf("%+v, %v", s, err)
	}
}
