-- Refusals: what was asked, what is left, what is short; the budget stays usable.
SELECT geosql_last_refusal();
--> NULL
SELECT geo_domain('beijing', 39.4, 115.4, 41.1, 117.6, 1), dx_universe('u', 0, 10, 1, 'kWh');
--> TEXT, TEXT
SELECT geoind_laplace('ana', 39.9, 116.3, 0.01);
--! refused: geoind_laplace: account 'ana' has no budget in unit 'm'; set one: SELECT budget_limit('ana', 'm', EPSILON) or budget_limit('*', 'm', EPSILON)
SELECT geosql_last_refusal();
--> '{"account":"ana","unit":"m","asked":0.01,"left":0,"short":0.01,"reopens":null,"function":"geoind_laplace"}'
SELECT budget_spent('ana', 'm'), budget_remaining('ana', 'm');
--> 0.0, 0.0
SELECT budget_limit('ana', 'm', 0.023), budget_limit('*', 'KWH', 5);
--> TEXT, TEXT
SELECT geoind_laplace('ana', 39.9, 116.3, 0.02);
--> TEXT
--$ ana 0.02/m
SELECT * FROM geoind_laplace('ana', 39.9, 116.3, 0.0069);
--! refused: geoind_laplace: account 'ana' has 0.0030/m left of 0.0230/m, 0.0069/m asked, 0.0039/m short
SELECT geosql_last_refusal();
--> '{"account":"ana","unit":"m","asked":0.0069,"left":0.003,"short":0.0039,"reopens":null,"function":"geoind_laplace"}'
SELECT geoind_laplace('ana', 39.9, 116.3, 0.003);
--> TEXT
--$ ana 0.003/m
SELECT dx_value('ana', 3, 1, 'u');
--! refused: dx_value: account 'ana' has no budget in unit 'kWh'...KWH...

-- Rows before a refusal are answered and paid.
SELECT budget_limit('bo', 'm', 0.025), budget_limit('bo', 'kWh', 5), budget_limit('cy', 'kWh', 1);
--> TEXT, TEXT, TEXT
CREATE TABLE n AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT i FROM n;
SELECT i, typeof(geoind_laplace('bo', 39.9, 116.3, 0.01)) FROM n;
--> 1, 'text'
--> 2, 'text'
--! refused: geoind_laplace: account 'bo' has 0.005/m left of 0.025/m, 0.010/m asked, 0.005/m short
--$ bo 0.02/m

-- A group charges all of its accounts or none.
SELECT dx_sum(iif(i = 5, 'cy', 'bo'), i, 2, 'u') FROM n;
--! refused: dx_sum: account 'cy' has 1/kWh left of 1/kWh, 2/kWh asked, 1/kWh short
SELECT geosql_last_refusal() ->> 'account', geosql_last_refusal() ->> 'function';
--> 'cy', 'dx_sum'
SELECT dx_sum('bo', i, 2, 'u') FROM n;
--> REAL
--$ bo 2/kWh

-- A limit of 0 blocks, one may be raised, and raising forgets nothing.
SELECT budget_limit('ana', 'm', 0);
--> TEXT
SELECT geoind_laplace('ana', 39.9, 116.3, 0.001);
--! refused: geoind_laplace: account 'ana' has 0.000/m left of 0.000/m, 0.001/m asked, 0.001/m short...
SELECT budget_limit('ana', 'm', 0.024);
--> TEXT
SELECT geoind_laplace('ana', 39.9, 116.3, 0.001);
--> TEXT
--$ ana 0.001/m

-- A window says when it opens again.
SELECT budget_limit('dee', 'kWh', 1, 3600);
--> TEXT
SELECT dx_value('dee', 3, 1, 'u');
--> REAL
--$ dee 1/kWh
SELECT dx_value('dee', 3, 1, 'u');
--! refused: dx_value: account 'dee' has 0/kWh left of 1/kWh, 1/kWh asked, 1/kWh short...
SELECT strftime('%s', geosql_last_refusal() ->> 'reopens') - strftime('%s', 'now') BETWEEN 3500 AND 3601;
--> 1

-- What succeeds keeps the refusal. Another error of geosql does not, and neither does a connection.
SELECT count(*) FROM n WHERE dx_value('bo', i, 0.1, 'u') IS NULL;
--> 0
--$ bo 0.5/kWh
SELECT geosql_last_refusal() ->> 'account';
--> 'dee'
SELECT dx_value('dee', 3, -1, 'u');
--! dx_value: epsilon must be above 0, got -1
SELECT geosql_last_refusal();
--> NULL
CREATE VIEW why AS SELECT geosql_last_refusal();
SELECT * FROM why;
--! unsafe use of geosql_last_refusal()

-- Reserving for all or none.
SELECT budget_reserve(who, 'kWh', 1) FROM (SELECT 'cy' AS who UNION SELECT 'eve');
--! refused: budget_reserve: account 'eve' has no budget in unit 'kWh'...
SELECT budget_reserve(who, 'kWh', 1) FROM (SELECT 'cy' AS who UNION SELECT 'bo');
--> 2
--$ bo 1/kWh, cy 1/kWh
SELECT typeof(dx_value('cy', 3, 1, 'u'));
--> 'real'

--- reconnect

-- What was reserved and not used came back when the connection closed.
SELECT budget_spent('bo', 'kWh'), budget_spent('cy', 'kWh'), budget_remaining('bo', 'kWh');
--> 2.5, 1.0, 2.5
--$ bo -1/kWh
SELECT geosql_last_refusal();
--> NULL
