-- Neither ROLLBACK nor an error takes a charge back.
SELECT dx_universe('u', 0, 10, 1, 'kWh'), budget_limit('*', 'kWh', 10000);
--> TEXT, TEXT
CREATE TABLE kept(z UNIQUE);
BEGIN;
SELECT dx_value('ana', 3, 100, 'u');
--> 3.0
--$ ana 100/kWh
INSERT INTO kept SELECT dx_value('ana', 4, 100, 'u');
--$ ana 100/kWh
SAVEPOINT s;
INSERT INTO kept SELECT dx_value('ana', 5, 100, 'u');
--$ ana 100/kWh
ROLLBACK TO s;
SELECT z FROM kept;
--> 4.0
ROLLBACK;
SELECT z FROM kept;
SELECT budget_spent('ana', 'kWh');
--> 300.0
BEGIN IMMEDIATE;
INSERT INTO kept SELECT dx_value('ana', 6, 100, 'u');
--$ ana 100/kWh
COMMIT;
INSERT INTO kept SELECT dx_value('ana', 6, 100, 'u');
--! UNIQUE constraint failed: kept.z
--$ ana 100/kWh
INSERT OR IGNORE INTO kept SELECT dx_value('ana', 6, 100, 'u');
--$ ana 100/kWh
SELECT dx_value('ana', 7, 100, 'u') FROM kept WHERE json('{') IS NULL;
--! malformed JSON
PRAGMA query_only = ON;
SELECT dx_value('ana', 7, 100, 'u');
--> 7.0
--$ ana 100/kWh
PRAGMA query_only = OFF;

-- A rolled-back release is no excuse for a second one at the old price.
SELECT budget_limit('bo', 'kWh', 100);
--> TEXT
BEGIN;
SELECT dx_value('bo', 3, 100, 'u');
--> 3.0
--$ bo 100/kWh
ROLLBACK;
SELECT dx_value('bo', 3, 100, 'u');
--! refused: dx_value: account 'bo' has 0/kWh left of 100/kWh, 100/kWh asked, 100/kWh short

--- reconnect

SELECT budget_spent('ana', 'kWh'), budget_spent('bo', 'kWh');
--> 700.0, 100.0
SELECT sum(evaluations), count(DISTINCT account) FROM ledger_charges;
--> 8, 2
SELECT head = ledger_head() FROM ledger_verify;
--> 1
