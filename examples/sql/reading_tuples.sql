-- A smart meter reports every ten seconds: what is on tonight shows in the
-- readings. How a tuple of readings, its average and its percentiles are released
-- with all readings protected at once.
--
--   geosql evening.db < examples/sql/reading_tuples.sql

-- Five minutes of a television, watts (made up).
CREATE TABLE report(meter INTEGER, second INTEGER, watts REAL);
INSERT INTO report
WITH RECURSIVE slot(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM slot WHERE i < 29)
SELECT 17, 10 * i, 62 + (i * i * 7) % 13 - 18 * (i IN (2, 23)) FROM slot;

-- Public facts: reports are whole watts between 0 and 300. Policy: 12 per watt.
SELECT dx_universe('television', 0, 300, 1, 'W');
SELECT budget_limit('*', 'W', 12);

-- How good will a report at epsilon 0.1 per watt be? Off by at most this, 95 % sure.
SELECT dx_radius('value', 0.95, 0.1, 'television') AS watts_at_95_percent;

-- The signature of the programme. Every report has noise of its own and is charged
-- 0.1: together they cost 3, which protects all thirty at once (maximum metric).
SELECT second, dx_value(meter, watts, 0.1, 'television') AS watts FROM report ORDER BY second;
SELECT budget_spent(17, 'W') AS spent;

-- One number about all of them is cheaper: under 'dinf' a change of every report
-- by a watt changes the average, and each percentile, by at most a watt.
SELECT dx_avg(meter, watts, 0.5, 'television', 'dinf') AS average FROM report;
SELECT dx_percentile(meter, watts, 90, 0.5, 'television', 'dinf') AS p90,
       dx_median(meter, watts, 0.5, 'television', 'dinf') AS median,
       dx_max(meter, watts, 0.5, 'television', 'dinf') AS largest FROM report;

-- A sum is refused under 'dinf': a watt more in each of n reports is n watts. From a
-- public number of reports the average gives one.
SELECT round(30 * dx_avg(meter, watts, 0.5, 'television', 'dinf') * 10 / 3600, 2) AS watt_hours FROM report;

SELECT account, unit, spent, remaining FROM ledger_balance WHERE account <> '*';
