-- The commuters of a town: how long the usual way to work is, and how long the long ones are, with error bars.
--
--   geosql commute.db < examples/sql/reading_percentiles.sql

-- Minutes that 2000 people travel, one row each (made up).
CREATE TABLE commute(person INTEGER, quarter TEXT, minutes INTEGER);
INSERT INTO commute
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
SELECT i, CASE i % 4 WHEN 0 THEN 'hill' ELSE 'harbour' END, 5 + i * i % 37 + i * 7 % 53 / (1 + i % 4) FROM n;

SELECT dx_universe('way', 0, 180, 1, 'minute');
SELECT budget_limit('*', 'record', 5), budget_limit('*', 'minute', 5);

-- How far off a percentile is in minutes depends on the people: where many travel about as long, a few
-- of them are hardly a minute. In people it does not, and under 'dh' it can be said before.
SELECT dx_rank_radius(0.95, 1, 'way') AS people;

-- With probability 0.95 at most so many people travel longer than the answer and shorter than the true
-- median, or the other way round.
SELECT quarter, median, dx_rank_within(median) AS people
FROM (SELECT quarter, dx_median(person, minutes, 1, 'way', 'dh') AS median FROM commute GROUP BY quarter);
SELECT p95, dx_rank_within(p95) AS people_95, dx_rank_within(p95, 0.5) AS people_50
FROM (SELECT dx_percentile(person, minutes, 95, 1, 'way', 'dh') AS p95 FROM commute);

-- The longest way: all times above it are one person off, so in a wide universe dx_max aims a few people inside. An
-- optional argument adds these. This universe is narrow, and has none.
SELECT longest, dx_rank_within(longest) AS people, dx_rank_radius(0.95, 1, 'way', 'max') AS said_before
FROM (SELECT dx_max(person, minutes, 1, 'way', 'dh') AS longest FROM commute);

-- Several percentiles of everybody for one epsilon, as JSON. They never fall, and equal times are divided at random.
CREATE TABLE deciles AS SELECT dx_percentiles(person, minutes, '[10, 20, 30, 40, 50, 60, 70, 80, 90]', 0.5, 'way', 'dh') AS answer FROM commute;
SELECT decile.value ->> 'p' AS p, decile.value ->> 'value' AS minutes FROM deciles, json_each(answer) AS decile;

-- Under 'd1', which protects how long each person travels and not who is in the table, there are three ways to draw
-- a percentile, and public facts choose one. By score the bound is that of people who all travel nearly the same
-- time, at most their number; the mean of neighbouring ranks has none; noise has a distance in minutes.
SELECT median, dx_rank_within(median) AS people
FROM (SELECT dx_median(person, minutes, 0.5, 'way', 'd1/score') AS median FROM commute);
SELECT dx_percentile(person, minutes, 95, 0.5, 'way', 'd1/window') AS p95 FROM commute;
SELECT median, dx_within(median) AS minutes
FROM (SELECT dx_median(person, minutes, 0.5, 'way', 'd1/noise') AS median FROM commute WHERE person <= 5);

-- Under 'dinf', which protects all of them at once, the noise does not depend on the people: there is a
-- distance in minutes, and none in people. An average has one too.
SELECT median, dx_within(median) AS minutes, dx_rank_within(median) AS people
FROM (SELECT dx_median(person, minutes, 1, 'way', 'dinf') AS median FROM commute);
SELECT average, dx_within(average) AS minutes
FROM (SELECT dx_avg(person, minutes, 1, 'way') AS average FROM commute);
