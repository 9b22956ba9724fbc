-- enter also says whether a process has found that charges are missing: key lost of table meta has the time. Its first argument
-- is the version of the program, so that one of another version charges nothing after a conversion, even if it was connected
-- before. A program of version 3 or earlier calls a function that is gone.

DROP FUNCTION geosql.enter(uuid, boolean, text[], text[]);
CREATE FUNCTION geosql.enter(program bigint, me uuid, alone boolean, accounts text[], units text[],
  OUT started bigint, OUT recovery boolean, OUT durable text, OUT storage text, OUT generation bigint, OUT moved text, OUT lost bigint,
  OUT turn bigint, OUT seq bigint, OUT hash bytea, OUT standings bigint[], OUT places tid[], OUT now bigint)
LANGUAGE plpgsql VOLATILE SET jit = off SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  version bigint;
BEGIN
  started := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
  recovery := pg_is_in_recovery();
  durable := current_setting('synchronous_commit');
  IF durable IN ('off', 'local') THEN
    PERFORM set_config('synchronous_commit', 'on', true);
    durable := current_setting('synchronous_commit');
  END IF;
  storage := current_setting('fsync') || ' ' || current_setting('full_page_writes');
  IF recovery THEN
    RETURN;
  END IF;
  PERFORM set_config('idle_in_transaction_session_timeout', '30s', true); -- a machine that stops keeps nobody out
  IF alone THEN
    PERFORM pg_advisory_xact_lock(7450483530762551297);
  ELSE
    PERFORM pg_advisory_xact_lock_shared(7450483530762551297);
  END IF;
  SELECT w.turn, w.seq, w.hash INTO turn, seq, hash FROM geosql.writer AS w WHERE w.id = me FOR UPDATE;
  SELECT max(m.value) FILTER (WHERE m.key = 'generation'), max(m.value) FILTER (WHERE m.key = 'moved'),
      max(m.value) FILTER (WHERE m.key = 'lost'), max(m.value) FILTER (WHERE m.key = 'version')
    INTO generation, moved, lost, version FROM geosql.meta AS m WHERE m.key IN ('generation', 'moved', 'lost', 'version');
  IF version <> program THEN
    RAISE EXCEPTION 'the ledger was converted by another geosql (ledger version %, this is %)', version, program;
  END IF;
  IF cardinality(accounts) > 0 THEN
    SELECT array_agg(ARRAY[k.n,
        CASE WHEN own.account IS NULL THEN coalesce(rest.epsilon, -1) ELSE own.epsilon END,
        CASE WHEN own.account IS NULL THEN coalesce(rest.window_seconds, 0) ELSE coalesce(own.window_seconds, 0) END,
        CASE WHEN own.account IS NULL THEN coalesce(rest.changed, 0) ELSE own.changed END,
        coalesce(b.spent, -1), coalesce(b.reserved, 0), coalesce(b.last_charge, 0),
        coalesce(b.window_start, 0), coalesce(b.window_spent, 0)]), array_agg(coalesce(b.ctid, '(0,0)'))
      INTO standings, places
      FROM unnest(accounts, units) WITH ORDINALITY AS k(account, unit, n)
      LEFT JOIN LATERAL (SELECT x.ctid, x.* FROM geosql.balance AS x
        WHERE x.account = k.account AND x.unit = k.unit FOR NO KEY UPDATE) AS b ON true
      LEFT JOIN geosql.budget AS own ON own.account = k.account AND own.unit = k.unit
      LEFT JOIN geosql.budget AS rest ON rest.account = '*' AND rest.unit = k.unit;
  END IF;
  now := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
END $$;
