-- What is for the owner alone cannot hide in a view or a trigger.
SELECT dx_universe('u', 0, 10, 1, 'kWh'), budget_limit('ana', 'kWh', 10);
--> TEXT, TEXT
CREATE VIEW spent AS SELECT budget_spent('ana', 'kWh');
SELECT * FROM spent;
--! unsafe use of budget_spent()
CREATE VIEW charges AS SELECT * FROM ledger_charges;
SELECT * FROM charges;
--! unsafe use of virtual table "ledger_charges"
CREATE TABLE t(x);
CREATE TRIGGER raises AFTER INSERT ON t BEGIN SELECT budget_limit('ana', 'kWh', 1000); END;
INSERT INTO t VALUES (1);
--! unsafe use of budget_limit()
SELECT budget_remaining('ana', 'kWh');
--> 10.0

-- The ledger's own view of itself.
SELECT dx_value('ana', 3, 1, 'u');
--> REAL
--$ ana 1/kWh
SELECT length(ledger_head()) > 0;
--> 1
SELECT entries, balances, limits, head = ledger_head() FROM ledger_verify(ledger_head());
--> 2, 1, 1, 1
SELECT count(*) FROM ledger_limits;
--> 1
SELECT ledger_archive('', '2020-01-01');
--! ledger_archive: ...

-- Where the ledger is, is said before its first use.
SELECT geosql_ledger('elsewhere');
--! geosql_ledger: where comes too late: ...
SELECT geosql_ledger('postgres:/elsewhere');
--! geosql_ledger: where is wrong: the URL of a ledger begins with postgres://, ...
