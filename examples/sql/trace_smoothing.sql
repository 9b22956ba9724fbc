-- A walk that is published afterwards: every minute is reported with noise of its own, and then the reports
-- are smoothed. People move steadily and the noise does not, so that many reports together say where
-- the walk was. What is computed from reports costs nothing.
--
--   geosql walk.db < examples/sql/trace_smoothing.sql

SELECT geo_domain('paris', 48.80, 2.22, 48.91, 2.48, 1);

-- Half an hour has ln 10 within 100 m for all of its points together.
SELECT budget_limit('*', 'm', 0.02302585);

-- True positions: north along the river, a pause, and on.
CREATE TABLE fix(t INTEGER PRIMARY KEY, lat REAL, lon REAL);
INSERT INTO fix WITH RECURSIVE minute(m) AS (SELECT 0 UNION ALL SELECT m + 1 FROM minute WHERE m < 29)
SELECT 60 * m, 48.8400 + 0.0007 * (min(m, 12) + max(m - 18, 0)), 2.3450 + 0.0003 * min(m, 12) FROM minute;

-- One report a minute; each spends a thirtieth.
CREATE TABLE reported AS
  SELECT f.t, g.lat, g.lon FROM fix AS f, geoind_laplace('ana', f.lat, f.lon, 0.000767, 'paris') AS g;

-- The walk as the reports together tell it, and as it was known by each minute.
CREATE TABLE smoothed AS
  SELECT t, geoind_smooth(t, lat, lon, 0.000767, 'paris') OVER (ORDER BY t ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS afterwards,
         geoind_smooth(t, lat, lon, 0.000767, 'paris') OVER (ORDER BY t ROWS UNBOUNDED PRECEDING) AS at_the_time
  FROM reported;
SELECT t / 60 AS minute, afterwards, at_the_time FROM smoothed WHERE t % 600 = 0;

-- For the owner: how far north or south of the truth each is on average, in metres.
SELECT round(avg(abs(r.lat - f.lat)) * 111200) AS reported_m,
       round(avg(abs(CAST(substr(at_the_time, instr(at_the_time, ' ')) AS REAL) - f.lat)) * 111200) AS at_the_time_m,
       round(avg(abs(CAST(substr(afterwards, instr(afterwards, ' ')) AS REAL) - f.lat)) * 111200) AS afterwards_m
FROM fix AS f JOIN reported AS r USING (t) JOIN smoothed USING (t);

SELECT account, spent, remaining FROM ledger_balance WHERE spent > 0;
