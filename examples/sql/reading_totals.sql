-- An energy operator: totals and typical values of metered energy, without
-- giving single households' readings away.
--
--   geosql energy.db < examples/sql/reading_totals.sql

-- Half-hourly readings of three households, kWh (made up).
CREATE TABLE reading(meter INTEGER, district TEXT, at TEXT, kwh REAL);
INSERT INTO reading
WITH RECURSIVE slot(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM slot WHERE i < 47)
SELECT meter, district, printf('2026-01-01T%02d:%02d', i / 2, 30 * (i % 2)),
       round(base + 0.4 * (i BETWEEN 36 AND 44) + 0.01 * ((i * meter) % 7), 3)
FROM slot, (SELECT 17 AS meter, 'north' AS district, 0.12 AS base
            UNION ALL SELECT 18, 'north', 0.31
            UNION ALL SELECT 19, 'south', 0.22);

-- Public facts: readings are multiples of 0.001 kWh between 0 and 5, and these
-- are the districts (taken from a public list, so that an empty one shows too).
SELECT dx_universe('halfhour', 0, 5, 0.001, 'kWh');
CREATE TABLE district(name TEXT);
INSERT INTO district VALUES ('north'), ('south'), ('west');

-- Policy: each household 40 per kWh of its readings' accuracy, 100 per record of
-- its readings' presence.
SELECT budget_limit('*', 'kWh', 40);
SELECT budget_limit('*', 'record', 100);

-- How good will a sum at epsilon 10 per kWh be? Off by at most this, 95 % sure.
SELECT dx_radius('sum', 0.95, 10, 'halfhour') AS kwh_at_95_percent;

-- Load by district. A household pays once per group it is in.
SELECT d.name, dx_sum(r.meter, r.kwh, 10, 'halfhour') AS kwh
FROM district AS d LEFT JOIN reading AS r ON r.district = d.name
GROUP BY d.name;

-- The evening peak: average, median and the 95th percentile of a reading.
SELECT dx_avg(meter, kwh, 5, 'halfhour') AS average,
       dx_median(meter, kwh, 5, 'halfhour') AS median,
       dx_percentile(meter, kwh, 95, 5, 'halfhour') AS p95
FROM reading WHERE at BETWEEN '2026-01-01T18:00' AND '2026-01-01T22:00';

-- A whole day at once: under 'dinf' all of a household's readings are protected
-- together, each to the same accuracy.
SELECT dx_avg(meter, kwh, 5, 'halfhour', 'dinf') AS average_all FROM reading;

-- Whether a reading is there at all: classic differential privacy, charged once
-- per contributed row in unit 'record'.
SELECT dx_count(meter, 0.5) AS readings FROM reading WHERE district = 'south';
SELECT dx_sum(meter, kwh, 0.2, 'halfhour', 'dh') AS kwh_dh FROM reading WHERE district = 'north';

-- How readings are spread, in five bins, and how many households there are: the latter costs
-- a household once, however many readings it has.
CREATE TABLE spread AS SELECT dx_histogram(meter, kwh, 0.5, 'halfhour', 5) AS bins FROM reading;
SELECT bin.value ->> 'lo' AS kwh_from, bin.value ->> 'hi' AS kwh_to, bin.value ->> 'count' AS readings
FROM spread, json_each(bins) AS bin;
SELECT dx_accounts(meter, 0.5) AS households FROM reading;

-- Counts of empty bins may be below 0. Which share of readings is at most so large, from the same counts, free:
-- it never falls.
SELECT sum.value ->> 'hi' AS kwh, sum.value ->> 'share' AS share
FROM spread, json_each(dx_cumulative(bins)) AS sum;

-- One meter reports its reading every half hour: dx_value charges each.
SELECT at, dx_value(meter, kwh, 2, 'halfhour') AS kwh
FROM reading WHERE meter = 19 AND at < '2026-01-01T02:00' ORDER BY at;

-- Another reports its half hours with predictions: a reading like the last report costs a
-- test only, and all of them are protected together.
SELECT trace_policy('meter 18', 18, 'predictive',
                    '{"universe": "halfhour", "epsilon": 8, "alpha": 1, "eta": 0.25}');
SELECT at, predictive_value('meter 18', at, kwh) OVER (ORDER BY at ROWS UNBOUNDED PRECEDING) AS kwh
FROM reading WHERE meter = 18 AND at < '2026-01-01T12:00' ORDER BY at;
SELECT hard, tested, count(*) AS half_hours, sum(epsilon) AS epsilon
FROM trace_run('meter 18') GROUP BY hard, tested;

SELECT account, unit, spent, remaining FROM ledger_balance WHERE account <> '*' ORDER BY unit, account;
