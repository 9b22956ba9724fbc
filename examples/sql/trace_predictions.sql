-- A day of a walker: somebody asks a service for what is near, again and again,
-- and stays where they are for hours. The predictive mechanism reports the last
-- answer while a private test finds it good enough, and pays for noise only when
-- it is not.
--
--   geosql day.db < examples/sql/trace_predictions.sql

SELECT geo_domain('paris', 48.80, 2.22, 48.91, 2.48, 1);

-- Budgets first: nobody's day is worth more than 0.03 per metre.
SELECT budget_limit('*', 'm', 0.03);

-- Each trace is an account of its name and has ln 10 within 100 m for all of its
-- points together, which are to be about thirty. Another way to spend it: noise of
-- 1000 m at most, nine times out of ten, for as long as it lasts.
SELECT trace_policy('*', '*', 'predictive', '{"epsilon": 0.02302585, "steps": 30}');
SELECT trace_policy('chen', 'chen', 'predictive', '{"epsilon": 0.02302585, "alpha": 1000, "skip_speed": 1.5, "after": "predict"}');

-- True positions: at home, at work, at home again.
CREATE TABLE fix(trace TEXT, t TEXT, lat REAL, lon REAL);
INSERT INTO fix WITH RECURSIVE hour(h) AS (SELECT 0 UNION ALL SELECT h + 1 FROM hour WHERE h < 23)
SELECT who, strftime('%Y-%m-%dT%H:%M:%SZ', '2026-03-02', '+' || h || ' hours'),
       CASE WHEN h BETWEEN 9 AND 17 THEN 48.8738 ELSE 48.8540 END + h * 0.0001,
       CASE WHEN h BETWEEN 9 AND 17 THEN 2.2950 ELSE 2.3331 END
FROM hour, (SELECT 'ana' AS who UNION ALL SELECT 'chen');

-- The frame must be this one: a row at a time, in the order of time.
SELECT trace, t, predictive_step(trace, t, lat, lon)
  OVER (PARTITION BY trace ORDER BY t ROWS UNBOUNDED PRECEDING) AS reported
FROM fix ORDER BY trace, t;

-- Which of these were predictions (not hard), and what did they cost?
SELECT hard, tested, count(*) AS points, round(sum(epsilon), 6) AS spent
FROM trace_run('ana') GROUP BY hard, tested;

-- On line, one point at a time; the run goes on where it was.
SELECT predictive_step('ana', '2026-03-03T00:00:00Z', 48.8561, 2.3331) AS reported;

SELECT account, spent, remaining FROM ledger_balance WHERE spent > 0 ORDER BY account;
