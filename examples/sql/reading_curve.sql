-- How a street uses electricity: all percentiles, the share of small readings and the average of the largest ones, for
-- one charge.
--
--   geosql street.db < examples/sql/reading_curve.sql

-- A day of half hours of twenty homes, kWh (made up).
CREATE TABLE reading(home INTEGER, slot INTEGER, kwh REAL);
INSERT INTO reading
WITH RECURSIVE home(h) AS (SELECT 1 UNION ALL SELECT h + 1 FROM home WHERE h < 20),
     slot(s) AS (SELECT 0 UNION ALL SELECT s + 1 FROM slot WHERE s < 47)
SELECT h, s, round(0.05 + (h * h * 7 + s * s * 3) % 29 / 100.0 + (s BETWEEN 34 AND 42) * (h * s % 11) / 8.0, 3) FROM home, slot;

SELECT dx_universe('halfhour', 0, 10, 0.001, 'kWh');
SELECT budget_limit('*', 'kWh', 5);

-- One release. It is JSON, which may be kept and given away: the three functions below read it for free, today or later.
CREATE TABLE released AS SELECT dx_curve(home, kwh, 1, 'halfhour') AS curve FROM reading;
SELECT budget_spent(7, 'kWh') AS spent;

SELECT p.value AS p, dx_curve_percentile(curve, p.value) AS kwh FROM released, json_each('[5, 25, 50, 75, 95]') AS p;
SELECT dx_curve_share(curve, 0.1) AS share_up_to_100_Wh, dx_curve_share(curve, 1) AS share_up_to_1_kWh FROM released;

-- The average of the largest tenth. A curve with a block that begins there has its sum with the noise of a sum, whatever
-- the readings are; the other curve guesses within a block.
SELECT dx_curve_mean(curve, 90, 100) AS guessed FROM released;
SELECT dx_curve_mean(dx_curve(home, kwh, 1, 'halfhour', '[90]'), 90, 100) AS largest_tenth FROM reading;

-- Groups without a reading in common cost a home the largest of their prices together.
SELECT slot / 12 AS quarter, dx_curve_percentile(dx_curve(home, kwh, 1, 'halfhour'), 95) AS p95 FROM reading GROUP BY 1;
SELECT budget_spent(7, 'kWh') AS spent;
