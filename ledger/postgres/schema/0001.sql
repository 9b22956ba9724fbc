-- The tables of a ledger. Amounts are integers of 1e-12, times are integers of microseconds since
-- 1970. A balance is the sum of its account's entries, and its window is that of the last of them,
-- in the order of entry.id. A limit is what its entry says.
--
-- A later version must change the schema so that the statements of this one fail, such as by giving
-- geosql.enter another name. A program that is still connected when a newer one migrates must not
-- go on charging as before.

CREATE TABLE geosql.meta(
  key text COLLATE "C" PRIMARY KEY,
  value text COLLATE "C" NOT NULL);

-- A writer is a process, as long as it holds its state file. Each has a chain of entries, of which
-- the row has the last. Turn is how many transactions it has committed. Entries up to archived are in
-- an archive.
CREATE TABLE geosql.writer(
  id uuid PRIMARY KEY,
  seq bigint NOT NULL CHECK (seq >= 0),
  hash bytea NOT NULL,
  turn bigint NOT NULL DEFAULT 0,
  generation bigint NOT NULL,
  archived bigint NOT NULL DEFAULT 0,
  archived_hash bytea,
  created bigint NOT NULL) WITH (fillfactor = 50);

CREATE SEQUENCE geosql.entry_id;

-- The id tells the order of entries of different writers. It is not part of the chain.
CREATE TABLE geosql.entry(
  writer uuid NOT NULL,
  seq bigint NOT NULL,
  id bigint NOT NULL DEFAULT nextval('geosql.entry_id'),
  statement bigint NOT NULL,
  time bigint NOT NULL,
  function text COLLATE "C" NOT NULL,
  account text COLLATE "C" NOT NULL, unit text COLLATE "C" NOT NULL,
  spent bigint NOT NULL, reserved bigint NOT NULL,
  evaluations bigint NOT NULL,
  window_start bigint, window_spent bigint NOT NULL,
  epsilon_limit bigint, window_seconds bigint,
  hash bytea NOT NULL,
  PRIMARY KEY (writer, seq));

CREATE TABLE geosql.balance(
  account text COLLATE "C" NOT NULL, unit text COLLATE "C" NOT NULL,
  spent bigint NOT NULL CHECK (spent >= 0),
  reserved bigint NOT NULL CHECK (reserved >= 0),
  window_start bigint, window_spent bigint NOT NULL DEFAULT 0,
  last_charge bigint NOT NULL,
  PRIMARY KEY (account, unit)) WITH (fillfactor = 80);

-- The revision grows with every limit that is set. The entry is that of the writer.
CREATE TABLE geosql.budget(
  account text COLLATE "C" NOT NULL, unit text COLLATE "C" NOT NULL,
  epsilon bigint NOT NULL CHECK (epsilon >= 0),
  window_seconds bigint,
  changed bigint NOT NULL,
  writer uuid NOT NULL, entry bigint NOT NULL,
  revision bigint NOT NULL,
  PRIMARY KEY (account, unit));
CREATE INDEX budget_revision ON geosql.budget(revision);

CREATE TABLE geosql.trace(
  trace text COLLATE "C" PRIMARY KEY,
  account text COLLATE "C" NOT NULL, unit text COLLATE "C" NOT NULL,
  state bytea NOT NULL, points bigint NOT NULL,
  "user" bytea,
  held bigint NOT NULL, lost bigint NOT NULL,
  changed bigint NOT NULL);

CREATE TABLE geosql.run(
  trace text COLLATE "C" NOT NULL, first bigint NOT NULL,
  points bytea NOT NULL,
  PRIMARY KEY (trace, first));

CREATE TABLE geosql.release(
  id text COLLATE "C" PRIMARY KEY,
  digest text COLLATE "C" NOT NULL, settings text COLLATE "C" NOT NULL, output text COLLATE "C" NOT NULL,
  charged bigint NOT NULL,
  sha256 text COLLATE "C", sealed bigint,
  changed bigint NOT NULL);

CREATE TABLE geosql.answer(
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  question bytea NOT NULL, left_out bytea NOT NULL,
  answer bytea NOT NULL,
  given bigint NOT NULL);
-- left_out has a bit for each member of the question, which may be too many for an index.
CREATE UNIQUE INDEX answer_question ON geosql.answer(question, sha256(left_out));

CREATE TABLE geosql.seen(
  answer bigint NOT NULL, role text COLLATE "C" NOT NULL,
  PRIMARY KEY (answer, role));

CREATE TABLE geosql.purse(
  role text COLLATE "C" NOT NULL, account text COLLATE "C" NOT NULL, unit text COLLATE "C" NOT NULL,
  spent bigint NOT NULL CHECK (spent >= 0),
  PRIMARY KEY (role, unit, account));

CREATE TABLE geosql.fact(
  id bigint PRIMARY KEY,
  kind text COLLATE "C" NOT NULL, text text COLLATE "C" NOT NULL,
  digest bytea NOT NULL, -- SHA-256 of the text, which may be too long for an index
  recorded bigint NOT NULL,
  UNIQUE (kind, digest));

-- A head that was asked for is the hash over the last entries of all writers, which the vector
-- names: a line "WRITER SEQ HASH" for each, in ascending order, in hexadecimal.
CREATE TABLE geosql.head(
  entries bigint NOT NULL, hash bytea NOT NULL,
  vector text COLLATE "C" NOT NULL,
  taken bigint NOT NULL,
  PRIMARY KEY (entries, hash));

CREATE FUNCTION geosql.now() RETURNS bigint LANGUAGE sql VOLATILE AS
$$ SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint $$;

-- enter is the first statement of a transaction that writes. It makes the commit durable and says
-- what it depends on, waits for limits that are being set, locks the writer and then the balances,
-- whose keys are in ascending order, and returns for each key nine numbers: its place, the limit that
-- holds for it (epsilon, -1 for none; window in seconds; when it was set) and its balance (spent, -1
-- for none; reserved; last charge; start of the window; spent in it). Places are where the balances
-- are, which nobody else can change any more. Then the clock is read.
CREATE FUNCTION geosql.enter(me uuid, alone boolean, accounts text[], units text[],
  OUT started bigint, OUT recovery boolean, OUT durable text, OUT storage text, OUT generation bigint, OUT moved text,
  OUT turn bigint, OUT seq bigint, OUT hash bytea, OUT standings bigint[], OUT places tid[], OUT now bigint)
LANGUAGE plpgsql VOLATILE SET jit = off SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
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
  SELECT max(m.value) FILTER (WHERE m.key = 'generation'), max(m.value) FILTER (WHERE m.key = 'moved')
    INTO generation, moved FROM geosql.meta AS m WHERE m.key IN ('generation', 'moved');
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

-- leave writes entries, where the writer's chain ends now, and balances: first those that are new,
-- which have accounts and units in ascending order, then those that are at places. A new one must not be there:
-- whoever has added it meanwhile was not waited for. A column whose elements are all equal
-- may have only the first of them, for all hashes or balances: most columns are of that kind, and it
-- takes time to read the elements of arrays.
CREATE FUNCTION geosql.leave(me uuid, last bigint, last_hash bytea,
  statements bigint[], times bigint[], functions text[], accounts text[], units text[],
  spents bigint[], reserveds bigint[], evaluations bigint[], starts bigint[], windows bigint[],
  limits bigint[], seconds bigint[], hashes bytea[],
  fresh bigint, b_places tid[], b_accounts text[], b_units text[], b_spents bigint[], b_reserveds bigint[],
  b_lasts bigint[], b_starts bigint[], b_windows bigint[]) RETURNS void
LANGUAGE plpgsql VOLATILE SET jit = off SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  before bigint := last - cardinality(hashes);
  updated bigint;
BEGIN
  INSERT INTO geosql.entry(writer, seq, statement, time, function, account, unit, spent, reserved,
      evaluations, window_start, window_spent, epsilon_limit, window_seconds, hash)
    SELECT me, before + e.n, coalesce(e.statement, statements[1]), coalesce(e.time, times[1]),
      coalesce(e.function, functions[1]), coalesce(e.account, accounts[1]), coalesce(e.unit, units[1]),
      coalesce(e.spent, spents[1]), coalesce(e.reserved, reserveds[1]), coalesce(e.evaluations, leave.evaluations[1]),
      nullif(coalesce(e.start, starts[1]), 0), coalesce(e.win, windows[1]),
      nullif(coalesce(e.epsilon, limits[1]), -1), nullif(coalesce(e.seconds, leave.seconds[1]), 0), e.hash
    FROM unnest(statements, times, functions, accounts, units, spents, reserveds, evaluations,
      starts, windows, limits, seconds, hashes) WITH ORDINALITY
      AS e(statement, time, function, account, unit, spent, reserved, evaluations, start, win, epsilon, seconds, hash, n);
  UPDATE geosql.writer AS w SET turn = w.turn + 1, seq = last, hash = last_hash WHERE w.id = me;
  IF fresh > 0 THEN
    INSERT INTO geosql.balance(account, unit, spent, reserved, last_charge, window_start, window_spent)
      SELECT b.account, coalesce(b.unit, b_units[1]), coalesce(b.spent, b_spents[1]), coalesce(b.reserved, b_reserveds[1]),
        coalesce(b.last, b_lasts[1]), nullif(coalesce(b.start, b_starts[1]), 0), coalesce(b.win, b_windows[1])
      FROM unnest(b_accounts, b_units, b_spents[:fresh], b_reserveds[:fresh], b_lasts[:fresh],
        b_starts[:fresh], b_windows[:fresh]) AS b(account, unit, spent, reserved, last, start, win);
  END IF;
  IF cardinality(b_places) > 0 THEN
    UPDATE geosql.balance AS b SET spent = coalesce(n.spent, b_spents[1]), reserved = coalesce(n.reserved, b_reserveds[1]),
        last_charge = coalesce(n.last, b_lasts[1]), window_start = nullif(coalesce(n.start, b_starts[1]), 0),
        window_spent = coalesce(n.win, b_windows[1])
      FROM unnest(b_places, b_spents[fresh+1:], b_reserveds[fresh+1:], b_lasts[fresh+1:], b_starts[fresh+1:],
        b_windows[fresh+1:]) AS n(place, spent, reserved, last, start, win)
      WHERE b.ctid = n.place;
    GET DIAGNOSTICS updated = ROW_COUNT;
    IF updated <> cardinality(b_places) THEN
      RAISE EXCEPTION 'a balance was not where it was locked';
    END IF;
  END IF;
END $$;

INSERT INTO geosql.meta VALUES ('generation', '1'), ('created', geosql.now()::text);
