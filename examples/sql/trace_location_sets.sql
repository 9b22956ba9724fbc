-- A taxi under watch: whoever follows its reports knows the streets, how long a ride
-- takes, and what was reported before, so that noise around the true place is soon
-- undone. The planar isotropic mechanism hides each position among the cells where
-- such an observer expects the taxi to be.
--
--   geosql taxi.db < examples/sql/trace_location_sets.sql

SELECT geo_domain('lisbon', 38.70, -9.20, 38.80, -9.09, 1);

-- Budgets first: losses of steps add up, and this is for fifty of them.
SELECT budget_limit('*', 'set', 200);

-- How taxis move, from public traces (made up here: loops about the centre, of
-- several sizes). A model is public; never train one on secrets.
CREATE TABLE public_fix(trace TEXT, t INTEGER, lat REAL, lon REAL);
INSERT INTO public_fix WITH RECURSIVE minute(m) AS (SELECT 0 UNION ALL SELECT m + 1 FROM minute WHERE m < 1439)
SELECT 'taxi ' || taxi, m * 60,
       38.75 + 0.0006 * taxi * (abs((m + taxi) % 40 - 20) - 10),
       -9.145 + 0.0008 * taxi * (abs((m + taxi + 10) % 40 - 20) - 10)
FROM minute, (SELECT 1 AS taxi UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5);

SELECT markov_store('taxis', markov_train(trace, t, lat, lon, 'lisbon', 500, 60)) FROM public_fix;
SELECT markov_info('taxis');

-- Each step costs epsilon 4 and hides the taxi in a set of three cells or more, which
-- the observer knows with probability 0.99 to have the taxi in it. The noise is as wide
-- as the set: at epsilon 1 the first reports, when the set is all places that taxis go
-- to, would lie so far away that the observer learns next to nothing and sets stay large.
SELECT trace_policy('44-21-XT', 'joana', 'pim', '{"model": "taxis", "epsilon": 4, "delta": 0.01, "min_set": 3}');

-- True positions of half an hour, without a signal for three minutes.
CREATE TABLE fix(trace TEXT, t INTEGER, lat REAL, lon REAL);
INSERT INTO fix WITH RECURSIVE minute(m) AS (SELECT 0 UNION ALL SELECT m + 1 FROM minute WHERE m < 29)
SELECT '44-21-XT', 86400 + m * 60,
       CASE WHEN m NOT BETWEEN 10 AND 12 THEN 38.75 + 0.0013 * (abs(m % 40 - 20) - 10) END,
       -9.145 + 0.0017 * (abs((m + 10) % 40 - 20) - 10)
FROM minute;

-- What will it cost? A step costs the same whatever is drawn.
SELECT account, unit, evaluations, epsilon, at_most FROM budget_cost('
  SELECT pim_step(trace, t, lat, lon) OVER (PARTITION BY trace ORDER BY t ROWS UNBOUNDED PRECEDING) FROM fix');

SELECT t, pim_step(trace, t, lat, lon)
  OVER (PARTITION BY trace ORDER BY t ROWS UNBOUNDED PRECEDING) AS reported
FROM fix ORDER BY t;

-- How large were the sets, and the noise with them? The gap without a signal shows.
SELECT t, lat, lon, set_size FROM trace_run('44-21-XT');

-- Where is the taxi, as far as everybody may know? The mean of the belief is mostly nearer to
-- it than the report, and costs nothing. The area can be drawn on a map: it is GeoJSON.
SELECT t, lat, lon, cell_probability, area_probability FROM pim_estimate('44-21-XT', 0.5);
SELECT pim_estimate('44-21-XT', 0.5) -> 'area' AS area;

-- On line, one point at a time; the run goes on where it was.
SELECT pim_step('44-21-XT', 88200, 38.7513, -9.1329) AS reported;

SELECT account, unit, spent, remaining FROM ledger_balance WHERE spent > 0;
