-- Every evaluation is charged, however often SQLite evaluates; these shapes are
-- evaluated alike by all versions from 3.40 on.
SELECT geo_domain('beijing', 39.4, 115.4, 41.1, 117.6, 1), dx_universe('u', 0, 10, 1, 'kWh');
--> TEXT, TEXT
SELECT budget_limit('*', 'm', 1000), budget_limit('*', 'kWh', 10000);
--> TEXT, TEXT
CREATE TABLE t(a INTEGER, who TEXT, x REAL, lat REAL, lon REAL);
INSERT INTO t VALUES (1, 'ana', 1, 39.5, 116.1), (2, 'bo', 2, 39.6, 116.2), (3, 'ana', 3, 39.7, 116.3), (4, 'cy', 4, 39.8, 116.4);

SELECT dx_value(who, x, 100, 'u') FROM t;
--> 1.0
--> 2.0
--> 3.0
--> 4.0
--$ ana 200/kWh, bo 100/kWh, cy 100/kWh
SELECT dx_value(who, x, 100, 'u') FROM t LIMIT 2;
--> 1.0
--> 2.0
--$ ana 100/kWh, bo 100/kWh

-- Shown twice, a flattened subquery draws twice; behind a fence it does not.
SELECT z, z FROM (SELECT dx_value('ana', x, 100, 'u') AS z FROM t);
--> 4 x REAL, REAL
--$ ana 800/kWh
SELECT z, z FROM (SELECT dx_value('ana', x, 100, 'u') AS z FROM t LIMIT -1 OFFSET 0);
--> 4 x REAL, REAL
--$ ana 400/kWh
WITH c AS MATERIALIZED (SELECT dx_value('ana', x, 100, 'u') AS z FROM t) SELECT z, z FROM c UNION ALL SELECT z, z FROM c;
--> 8 x REAL, REAL
--$ ana 400/kWh
SELECT g.lat, g.lat FROM t, geoind_laplace('ana', t.lat, t.lon, 0.01) AS g;
--> 4 x REAL, REAL
--$ ana 0.04/m

-- Evaluated and not shown, shown and not evaluated.
SELECT dx_value('ana', x, 100, 'u') FROM t ORDER BY a DESC LIMIT 1;
--> 4.0
--$ ana 400/kWh
SELECT a FROM (SELECT a, dx_value('ana', x, 100, 'u') FROM t);
--> 4 x INTEGER
SELECT count(*) FROM t WHERE dx_value('ana', x, 100, 'u') > 2;
--> 2
--$ ana 400/kWh

-- What stores, and views, triggers, defaults.
CREATE TABLE kept(z REAL DEFAULT (dx_value('ana', 7, 100, 'u')));
INSERT INTO kept SELECT dx_value(who, x, 100, 'u') FROM t;
--$ ana 200/kWh, bo 100/kWh, cy 100/kWh
INSERT INTO kept DEFAULT VALUES;
--$ ana 100/kWh
UPDATE kept SET z = dx_value('bo', z, 100, 'u') WHERE z = 7;
--$ bo 100/kWh
SELECT z FROM kept;
--> 1.0
--> 2.0
--> 3.0
--> 4.0
--> 7.0
CREATE VIEW sanitised AS SELECT t.a, g.wkt FROM t, geoind_laplace(t.who, t.lat, t.lon, 0.01) AS g;
SELECT * FROM sanitised;
--> 4 x INTEGER, TEXT
--$ ana 0.02/m, bo 0.01/m, cy 0.01/m
CREATE TRIGGER after_keeping AFTER DELETE ON kept BEGIN INSERT INTO kept VALUES (dx_value('cy', 10, 100, 'u')); END;
DELETE FROM kept WHERE z < 3;
--$ cy 200/kWh

-- Told before it is spent.
SELECT account, unit, epsilon, evaluations FROM budget_cost('SELECT dx_value(who, x, 100, ''u'') FROM t') ORDER BY account;
--> 'ana', 'kWh', 200.0, 2
--> 'bo', 'kWh', 100.0, 1
--> 'cy', 'kWh', 100.0, 1

-- Ten tenths are one.
SELECT budget_limit('dee', 'm', 1);
--> TEXT
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10) SELECT geoind_laplace('dee', 39.9, 116.3, 0.1) FROM n;
--> 10 x TEXT
--$ dee 1/m
SELECT budget_remaining('dee', 'm'), budget_spent('dee', 'm');
--> 0.0, 1.0
SELECT function, account, unit, epsilon, evaluations FROM ledger_charges WHERE account = 'dee' LIMIT 1;
--> 'geoind_laplace', 'dee', 'm', 0.1..1.0, INTEGER

-- The charges of a statement are reserved before it, and count as spent then. They are not charged again.
SELECT budget_reserve_for('SELECT dx_value(who, x, 100, ''u'') FROM t');
--> 3
--$ ana 200/kWh, bo 100/kWh, cy 100/kWh
SELECT count(dx_value(who, x, 100, 'u')) FROM t;
--> 4
SELECT budget_reserve_for('SELECT * FROM sanitised');
--> 3
--$ ana 0.02/m, bo 0.01/m, cy 0.01/m
CREATE TABLE reserved(wkt TEXT);
INSERT INTO reserved SELECT wkt FROM sanitised;
SELECT budget_reserve_for('INSERT INTO reserved SELECT geoind_laplace(''dan'', lat, lon, 0.01) FROM t'), (SELECT count(*) FROM reserved);
--> 1, 4
--$ dan 0.04/m
SELECT budget_reserve_for('SELECT 1');
--> 0

-- Or not at all.
SELECT budget_reserve_for('SELECT geoind_laplace(who, lat, lon, 600) FROM t');
--! refused: budget_reserve_for: account 'ana' has ...
SELECT budget_reserve_for('SELECT dx_value(who, x, 100, ''u'') FROM t WHERE random() > 0');
--! budget_reserve_for: the charges of the statement cannot be counted before it runs: released or random values decide them
SELECT budget_reserve_for('SELECT dx_value(who, ?, 100, ''u'') FROM t');
--! budget_reserve_for: sql has a parameter, which has no value in a dry run; write the value in its place
SELECT budget_reserve_for('SELECT budget_reserve_for(''SELECT 1'')');
--! budget_reserve_for: budget_reserve_for: cannot be dry-run
SELECT budget_reserve_for('EXPLAIN SELECT 1');
--! budget_reserve_for: sql must be one of SELECT, ...
