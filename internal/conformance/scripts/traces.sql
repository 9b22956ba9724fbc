-- Traces: step by step, and as a whole.
SELECT geo_domain('beijing', 39.4, 115.4, 41.1, 117.6, 1);
--> TEXT
SELECT budget_limit('*', 'm', 1), budget_limit('*', 'set', 10), budget_limit('*', 'cip:day', 1);
--> TEXT, TEXT, TEXT
SELECT trace_policy('*', '*', 'independent', '{"epsilon": 0.02, "steps": 4}');
--> TEXT
CREATE TABLE fix(trace, t, lat, lon);
INSERT INTO fix VALUES ('bus', 180, 40.003, 116.3), ('bus', 0, 40, 116.3), ('bus', 120, 40.002, 116.3), ('bus', 60, 40.001, 116.3), ('bus', 240, 40.004, 116.3), ('bus', 300, 40.005, 116.3);

-- By time, whatever the order of the table; NULL once the budget is used up.
SELECT t, typeof(predictive_step(trace, t, lat, lon) OVER (PARTITION BY trace ORDER BY t ROWS UNBOUNDED PRECEDING)) FROM fix;
--> 0, 'text'
--> 60, 'text'
--> 120, 'text'
--> 180, 'text'
--> 240, 'null'
--> 300, 'null'
--$ bus 0.02/m
SELECT predictive_step('bus', 360, 40, 116.3);
--> NULL
SELECT predictive_step('tram', 0, 40, 116.3);
--> 'POINT(116... ...)'
--$ tram 0.005/m
SELECT predictive_step('tram', '1970-01-01T00:01:00Z', 40, 116.3);
--> TEXT
--$ tram 0.005/m
SELECT predictive_step(trace, t, lat, lon) OVER (PARTITION BY trace ORDER BY t ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM (SELECT 'x' AS trace, 0 AS t, 40 AS lat, 116 AS lon UNION ALL SELECT 'x', 60, 40, 116 UNION ALL SELECT 'x', 120, 40, 116);
--> 2 x TEXT
--! predictive_step: ...
--$ x 0.01/m

-- Readings, with predictions, in the unit of their universe.
SELECT dx_universe('u', 0, 10, 1, 'kWh'), budget_limit('*', 'kWh', 10);
--> TEXT, TEXT
SELECT trace_policy('meter', 'ana', 'predictive', '{"universe": "u", "epsilon": 4, "steps": 1}');
--> 'trace ''meter'', charged to account ''ana'': predictive, fixed-rate, 4/kWh for the whole trace'
SELECT trace_policy('attic', 'bo', 'independent', '{"universe": "u", "epsilon": 4, "steps": 2}');
--> TEXT
SELECT typeof(predictive_value('attic', t, x) OVER (ORDER BY t ROWS UNBOUNDED PRECEDING)) FROM (SELECT 0 AS t, 3 AS x UNION ALL SELECT 1, NULL UNION ALL SELECT 2, 99 UNION ALL SELECT 3, 4);
--> 'real'
--> 'null'
--> 'real'
--> 'null'
--$ bo 4/kWh
SELECT predictive_value('meter', 0, 3);
--> REAL
--$ ana 4/kWh
SELECT predictive_step('meter', 60, 40, 116.3);
--! predictive_step: trace 'meter' has a policy of mechanism 'predictive'; its steps are taken by predictive_value(trace, t, x)

-- Sets of cells, after a public model.
WITH model(trace, t, lat, lon) AS (VALUES ('m', 0, 39.95, 116.25), ('m', 60, 39.96, 116.26), ('m', 120, 39.97, 116.27), ('m', 180, 39.96, 116.26))
SELECT markov_store('popular', markov_train(trace, t, lat, lon, 'beijing', 20000, 60)) FROM model;
--> TEXT
SELECT typeof(markov_info('popular'));
--> 'text'
SELECT trace_policy('ride', 'ana', 'pim', '{"model": "popular", "epsilon": 1, "delta": 0.01}');
--> TEXT
SELECT pim_step('ride', 0, 39.95, 116.25);
--> 'POINT(...)'
--$ ana 1/set
SELECT pim_step('ride', 60, 39.95, 116.25);
--> 'POINT(...)'
--$ ana 1/set

-- What everybody may believe after that costs nothing.
SELECT pim_estimate('ride') ->> 't', pim_estimate('ride', 0.5) -> 'area' ->> 'type';
--> '1970-01-01T00:01:00Z', 'MultiPolygon'
SELECT t, lat, lon, cell_probability FROM pim_estimate('ride');
--> '1970-01-01T00:00:00Z', REAL, REAL, REAL
--> '1970-01-01T00:01:00Z', REAL, REAL, REAL

-- A whole trace under a prior, once for each account.
SELECT cip_policy('day', '{"kernel": "rbf", "variance": 1000000, "length_scale_max": 600, "radius": 100, "lambda": 2, "epsilon": 1, "family": "windows:3", "domain": "beijing"}');
--> TEXT
SELECT json_array_length(cip_trace('trip', t, lat, lon, 'day')) FROM fix;
--> 6
--$ trip 1/cip:day
SELECT cip_trace('trip', t, lat, lon, 'day') FROM fix;
--! refused: cip_trace: account 'trip' was charged in unit 'cip:day' before...

--- reconnect

-- A run is kept in the ledger and goes on.
SELECT predictive_step('tram', 60, 40, 116.3);
--! predictive_step: ...
SELECT predictive_step('tram', 120, 40, 116.3);
--> TEXT
--$ tram 0.005/m
SELECT t, lat, hard, epsilon FROM trace_run('tram');
--> '1970-01-01T00:00:00Z', REAL, 1, 0.005
--> '1970-01-01T00:01:00Z', REAL, 1, 0.005
--> '1970-01-01T00:02:00Z', REAL, 1, 0.005
SELECT trace_restart('tram');
--> TEXT
