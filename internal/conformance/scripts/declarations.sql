-- What the owner declares: once, unchanged, and kept in the database.
SELECT geo_domain('beijing', 39.4, 115.4, 41.1, 117.6, 1);
--> 'beijing: ... km x ... km, step 1 m, kappa ..., largest sensible epsilon ...'
SELECT geo_domain('beijing', 39.4, 115.4, 41.1, 117.6, 1);
--> 'beijing: ...'
SELECT geo_domain('beijing', 39.4, 115.4, 41.1, 117.6, 2);
--! geo_domain: ...
SELECT geo_domain('world', -80, -180, 80, 180, 1);
--! geo_domain: ...
SELECT geo_region('beijing', 'POLYGON((116 39.5, 117 39.5, 117 40.5, 116 40.5, 116 39.5))');
--> TEXT
SELECT geo_region('beijing', 'POINT(116 39.5)');
--! geo_region: ...
SELECT dx_universe('halfhour', 0, 10, 0.001, 'kWh');
--> 'halfhour: 0 to 10 in steps of 0.001 kWh, 10001 values'
SELECT dx_universe('uneven', 0, 10, 3, 'kWh');
--! dx_universe: ...
SELECT dx_universe('reserved', 0, 10, 1, 'm');
--! dx_universe: ...
SELECT budget_limit('ana', 'm', 0.05), budget_limit('*', 'kWh', 2), budget_limit(42, 'record', 1, 86400);
--> 'account ''ana'': 0.05/m', 'every account without a limit of its own: 2/kWh', TEXT
SELECT budget_limit('ana', 'm', -1);
--! budget_limit: ...

-- Declarations are rolled back with their transaction; limits are not.
BEGIN;
SELECT dx_universe('gone', 0, 10, 1, 'l'), budget_limit('bo', 'm', 0.25);
--> TEXT, TEXT
ROLLBACK;
SELECT dx_value('ana', 1, 1, 'gone');
--! dx_value: universe 'gone' is not declared...
SELECT budget_remaining('bo', 'm');
--> 0.25

--- reconnect

-- Another connection knows them.
SELECT geo_outside('beijing', 39.9, 116.4), geo_outside('beijing', 39.0, 116.4), dx_outside('halfhour', 3), dx_outside('halfhour', 11);
--> 0, 1, 0, 1
SELECT account, unit, epsilon_limit, spent, reserved, remaining, window_seconds FROM ledger_balance ORDER BY account, unit;
--> '*', 'kWh', 2.0, 0.0, 0.0, 2.0, NULL
--> '42', 'record', 1.0, 0.0, 0.0, 1.0, 86400
--> 'ana', 'm', 0.05, 0.0, 0.0, 0.05, NULL
--> 'bo', 'm', 0.25, 0.0, 0.0, 0.25, NULL
SELECT count(*) FROM ledger_limits;
--> 4
