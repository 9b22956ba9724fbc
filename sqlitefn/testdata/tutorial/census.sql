-- 0.1 job
SELECT substr(home, 1, 11) AS tract, dx_sum(home, jobs, 0.1, 'jobs') AS jobs FROM od GROUP BY tract ORDER BY jobs DESC;

-- 0.1 job
SELECT substr(work, 1, 11) AS tract, dx_sum(home, jobs, 0.1, 'jobs') AS jobs FROM od GROUP BY 1 ORDER BY 2 DESC LIMIT 5;

-- 0.1 job
SELECT substr(home, 1, 11) AS here, substr(work, 1, 11) AS there, dx_sum(home, jobs, 0.1, 'jobs') AS jobs FROM od GROUP BY here, there ORDER BY jobs DESC LIMIT 10;

-- 0.1 job
SELECT b.tract, dx_sum(o.home, o.jobs, 0.1, 'jobs') AS jobs FROM od o JOIN blocks b ON b.block = o.work GROUP BY b.tract ORDER BY jobs DESC LIMIT 5;

-- 0.1 job
SELECT h.tract AS here, w.tract AS there, dx_sum(o.home, o.jobs, 0.1, 'jobs') AS jobs FROM od o JOIN blocks h ON h.block = o.home JOIN blocks w ON w.block = o.work GROUP BY 1, 2;

-- 0.1 job
SELECT home_tract, work_tract, dx_sum(home, jobs, 0.1, 'jobs') AS n FROM commutes GROUP BY home_tract, work_tract HAVING n > 5 ORDER BY n DESC;

-- 0.1 job
SELECT home_tract, dx_sum(home, jobs, 0.1, 'jobs') AS n, rank() OVER (ORDER BY dx_sum(home, jobs, 0.1, 'jobs') DESC) AS place FROM commutes GROUP BY home_tract;

-- one by one: several times
SELECT t.ward, dx_sum(o.home, o.jobs, 0.1, 'jobs') AS jobs FROM od o JOIN blocks b ON b.block = o.home JOIN tracts t ON t.tract = b.tract GROUP BY t.ward;

-- 0.1 job
WITH g AS MATERIALIZED (SELECT substr(home, 1, 11) AS tract, dx_sum(home, jobs, 0.1, 'jobs') AS jobs FROM od GROUP BY 1) SELECT t.ward, sum(g.jobs) AS jobs FROM g JOIN tracts t USING (tract) GROUP BY t.ward;

-- 0.1 job
SELECT w.ward, dx_sum(o.home, o.jobs, 0.1, 'jobs') AS jobs FROM od o JOIN blocks b ON b.block = o.home JOIN wards w ON w.tract = b.tract GROUP BY w.ward;

-- one by one: several times
SELECT ward, dx_sum(home, jobs, 0.1, 'jobs') AS jobs FROM od LEFT JOIN blocks ON block = home LEFT JOIN tracts USING (tract) GROUP BY ward ORDER BY ward;

-- 0.1 job
SELECT t.tract, t.rent, g.jobs FROM tracts t LEFT JOIN (SELECT substr(home, 1, 11) AS tract, dx_sum(home, jobs, 0.1, 'jobs') AS jobs FROM od GROUP BY 1) g ON g.tract = t.tract ORDER BY t.rent DESC;

-- 0.1 job
SELECT t.ward, sum(g.jobs) FROM (SELECT substr(home, 1, 11) AS tract, dx_sum(home, jobs, 0.1, 'jobs') AS jobs FROM od GROUP BY 1) g JOIN tracts t USING (tract) GROUP BY t.ward;

-- 0.1 job
WITH g AS (SELECT substr(home, 1, 11) AS tract, dx_sum(home, jobs, 0.1, 'jobs') AS jobs FROM od GROUP BY 1) SELECT t.ward, sum(g.jobs) AS jobs FROM tracts t JOIN g ON g.tract = t.tract GROUP BY t.ward HAVING jobs > 100 ORDER BY jobs DESC;

-- 0.2 job
WITH leaving AS (SELECT substr(home, 1, 11) AS tract, dx_sum(home, jobs, 0.1, 'jobs') AS n FROM od GROUP BY 1), coming AS (SELECT substr(work, 1, 11) AS tract, dx_sum(home, jobs, 0.1, 'jobs') AS n FROM od GROUP BY 1) SELECT tract, coming.n - leaving.n AS balance FROM leaving JOIN coming USING (tract) ORDER BY balance DESC;

-- 0.2 job
WITH leaving AS (SELECT substr(home, 1, 11) AS tract, dx_sum(home, jobs, 0.1, 'jobs') AS n FROM od GROUP BY 1), coming AS (SELECT substr(work, 1, 11) AS tract, dx_sum(home, jobs, 0.1, 'jobs') AS n FROM od GROUP BY 1) SELECT tract, coalesce(coming.n, 0) AS c, coalesce(leaving.n, 0) AS l FROM coming LEFT JOIN leaving USING (tract);

-- 0.2 job
WITH leaving AS (SELECT substr(home, 1, 11) AS tract, dx_sum(home, jobs, 0.1, 'jobs') AS n FROM od GROUP BY 1), coming AS (SELECT substr(work, 1, 11) AS tract, dx_sum(home, jobs, 0.1, 'jobs') AS n FROM od GROUP BY 1) SELECT tract, coming.n, leaving.n FROM coming FULL JOIN leaving USING (tract);

-- 0.1 job
WITH g AS (SELECT substr(home, 1, 11) AS tract, dx_sum(home, jobs, 0.1, 'jobs') AS n FROM od GROUP BY 1) SELECT 'most' AS which, tract, n FROM g WHERE n = (SELECT max(n) FROM g) UNION ALL SELECT 'least', tract, n FROM g WHERE n = (SELECT min(n) FROM g);

-- 0.1 job
WITH g AS (SELECT substr(home, 1, 11) AS tract, dx_sum(home, jobs, 0.1, 'jobs') AS n FROM od GROUP BY 1) SELECT * FROM (SELECT * FROM g ORDER BY n DESC LIMIT 2) UNION ALL SELECT * FROM (SELECT * FROM g ORDER BY n LIMIT 2);

-- 0.1 job
WITH g AS (SELECT substr(home, 1, 11) AS tract, dx_sum(home, jobs, 0.1, 'jobs') AS n FROM od GROUP BY 1) SELECT a.tract, b.tract, abs(a.n - b.n) AS gap FROM g a JOIN g b ON a.tract < b.tract ORDER BY gap LIMIT 3;

-- 0.1 job
WITH g AS (SELECT substr(home, 1, 11) AS tract, dx_sum(home, jobs, 0.1, 'jobs') AS n FROM od GROUP BY 1) SELECT tract, n, (SELECT count(*) + 1 FROM g AS other WHERE other.n > g.n) AS place FROM g ORDER BY place;

-- 0.1 job
WITH g AS (SELECT substr(home, 1, 11) AS tract, dx_sum(home, jobs, 0.1, 'jobs') AS n FROM od GROUP BY 1), total AS (SELECT sum(n) AS all_jobs FROM g) SELECT tract, printf('%.1f %%', 100.0 * n / all_jobs) AS share FROM g, total ORDER BY n DESC;

-- 0.1 job
WITH g AS (SELECT substr(home, 1, 11) AS tract, dx_sum(home, jobs, 0.1, 'jobs') AS n FROM od GROUP BY 1) SELECT tract FROM g WHERE n > (SELECT avg(n) FROM g) INTERSECT SELECT tract FROM tracts WHERE rent > 950;

-- one by one: several times
-- uncertain
WITH g AS (SELECT substr(home, 1, 11) AS tract, dx_sum(home, jobs, 0.1, 'jobs') AS n FROM od GROUP BY 1) SELECT t.tract FROM tracts t WHERE NOT EXISTS (SELECT 1 FROM g WHERE g.tract = t.tract AND g.n > 100);

-- 0.1 job
WITH g AS MATERIALIZED (SELECT substr(home, 1, 11) AS tract, dx_sum(home, jobs, 0.1, 'jobs') AS n FROM od GROUP BY 1) SELECT t.tract FROM tracts t WHERE NOT EXISTS (SELECT 1 FROM g WHERE g.tract = t.tract AND g.n > 100);

-- 0.1 job
WITH g AS (SELECT substr(home, 1, 11) AS tract, dx_sum(home, jobs, 0.1, 'jobs') AS n FROM od GROUP BY 1) SELECT t.tract, t.ward FROM tracts t WHERE t.tract IN (SELECT tract FROM g WHERE n > 100);

-- one by one: several times
WITH g AS (SELECT substr(home, 1, 11) AS tract, dx_sum(home, jobs, 0.1, 'jobs') AS n FROM od GROUP BY 1) SELECT t.*, (SELECT n FROM g WHERE g.tract = t.tract) AS jobs FROM tracts t;

-- 0.1 job
WITH g AS MATERIALIZED (SELECT substr(home, 1, 11) AS tract, dx_sum(home, jobs, 0.1, 'jobs') AS n FROM od GROUP BY 1) SELECT t.*, (SELECT n FROM g WHERE g.tract = t.tract) AS jobs FROM tracts t;

-- one by one: several times
SELECT t.*, (SELECT dx_sum(home, jobs, 0.1, 'jobs') FROM od WHERE substr(home, 1, 11) = t.tract) AS jobs FROM tracts t;

-- 0.1 job
WITH g AS MATERIALIZED (SELECT substr(home, 1, 11) AS tract, dx_sum(home, jobs, 0.1, 'jobs') AS n FROM od GROUP BY 1) SELECT t.*, g.n FROM tracts t LEFT JOIN g ON g.tract = t.tract;

-- 0.1 job
SELECT CASE WHEN jobs >= 3 THEN 'many' WHEN jobs = 2 THEN 'two' ELSE 'one' END AS size, dx_sum(home, jobs, 0.1, 'jobs') FROM od GROUP BY size;

-- 0.1 job
SELECT dx_sum(home, CASE WHEN jobs > 2 THEN 1 ELSE 0 END, 0.1, 'jobs') AS large FROM od;

-- 0.1 job
SELECT substr(home, 1, 11) AS tract, dx_sum(home, CASE WHEN jobs > 2 THEN 1 ELSE 0 END, 0.1, 'jobs') AS large FROM od GROUP BY tract;

-- 0.2 job
SELECT substr(home, 1, 11) AS tract, dx_sum(home, jobs > 2, 0.1, 'jobs') AS large, dx_sum(home, jobs, 0.1, 'jobs') AS n FROM od GROUP BY tract ORDER BY 1.0 * large / n DESC;

-- 0.1 job
SELECT substr(home, 1, 11) AS tract, dx_sum(home, iif(substr(home, 1, 11) = substr(work, 1, 11), jobs, 0), 0.1, 'jobs') AS local FROM od GROUP BY tract;

-- 0.3 job
SELECT substr(home, 1, 11) AS tract, dx_avg(home, jobs, 0.1, 'jobs') AS mean, dx_median(home, jobs, 0.1, 'jobs') AS median, dx_stddev(home, jobs, 0.1, 'jobs') AS sd FROM od GROUP BY tract;

-- 0.1 job
SELECT tract, dx_median(home, n, 0.1, 'jobs') FROM (SELECT home, substr(home, 1, 11) AS tract, sum(jobs) AS n FROM od GROUP BY home) GROUP BY tract;

-- 0.1 job
SELECT tract, dx_max(home, n, 0.1, 'jobs') AS most FROM (SELECT home, substr(home, 1, 11) AS tract, total(jobs) AS n, count(*) AS places FROM od GROUP BY home HAVING places > 2) GROUP BY tract ORDER BY most DESC LIMIT 3;

-- 0.1 job
WITH persons AS (SELECT home, max(jobs) AS most FROM od GROUP BY home) SELECT substr(home, 1, 11) AS tract, dx_avg(home, most, 0.1, 'jobs') FROM persons GROUP BY tract;

-- one by one: several times
SELECT ntile, dx_sum(home, jobs, 0.1, 'jobs') FROM (SELECT home, jobs, ntile(4) OVER (ORDER BY home) AS ntile FROM od) GROUP BY ntile;

-- one by one: several times
SELECT ward, n FROM (SELECT t.ward, dx_sum(o.home, o.jobs, 0.1, 'jobs') AS n FROM od o JOIN tracts t ON t.tract = substr(o.work, 1, 11) GROUP BY t.ward) ORDER BY n DESC LIMIT 1;

-- 0.1 job
SELECT ward, n FROM (SELECT w.ward, dx_sum(o.home, o.jobs, 0.1, 'jobs') AS n FROM od o JOIN wards w ON w.tract = substr(o.work, 1, 11) GROUP BY w.ward) ORDER BY n DESC LIMIT 1;

-- 0.1 job
SELECT dx_sum(home, jobs, 0.1, 'jobs') FROM od WHERE work IN (SELECT block FROM blocks WHERE lat > 38.9) GROUP BY substr(home, 1, 11);

-- 0.1 job
SELECT substr(home, 1, 11) AS tract, dx_sum(home, jobs, 0.1, 'jobs') FROM od WHERE work IN (SELECT block FROM blocks WHERE tract IN (SELECT tract FROM tracts WHERE ward = 2)) GROUP BY tract;

-- 0.1 job
SELECT substr(home, 1, 11) AS tract, dx_sum(home, jobs, 0.1, 'jobs') FROM od o WHERE NOT EXISTS (SELECT 1 FROM blocks b WHERE b.block = o.work AND b.lat > 38.95) GROUP BY tract;

-- 0.1 job
SELECT substr(home, 1, 11) AS tract, dx_sum(home, jobs, 0.1, 'jobs') FROM od WHERE substr(home, 1, 11) <> substr(work, 1, 11) AND jobs BETWEEN 1 AND 50 GROUP BY tract;

-- 0.1 job
SELECT substr(home, 1, 11) AS tract, dx_sum(home, jobs, 0.1, 'jobs') FROM od WHERE home LIKE '11001%' AND jobs IN (1, 2, 3) GROUP BY tract;

-- 0.1 job
SELECT round(geo_distance(h.lat, h.lon, w.lat, w.lon) / 1000) AS km, dx_sum(o.home, o.jobs, 0.1, 'jobs') AS jobs FROM od o JOIN blocks h ON h.block = o.home JOIN blocks w ON w.block = o.work GROUP BY km ORDER BY km;

-- 0.1 job
SELECT CASE WHEN d < 1000 THEN 'near' WHEN d < 5000 THEN 'middle' ELSE 'far' END AS how, dx_sum(home, jobs, 0.1, 'jobs') AS n FROM (SELECT o.home, o.jobs, geo_distance(h.lat, h.lon, w.lat, w.lon) AS d FROM od o JOIN blocks h ON h.block = o.home JOIN blocks w ON w.block = o.work) GROUP BY how;

-- 0.2 job
SELECT substr(home, 1, 11) AS k, dx_sum(home, jobs, 0.1, 'jobs') AS n FROM od GROUP BY k UNION SELECT substr(work, 1, 11), dx_sum(home, jobs, 0.1, 'jobs') FROM od GROUP BY 1;

-- 0.2 job
SELECT 'home' AS side, substr(home, 1, 11) AS k, dx_sum(home, jobs, 0.1, 'jobs') AS n FROM od GROUP BY k UNION ALL SELECT 'work', substr(work, 1, 11), dx_sum(home, jobs, 0.1, 'jobs') FROM od GROUP BY 2 ORDER BY side, n DESC;

-- 0.2 job
SELECT 'all' AS k, dx_sum(home, jobs, 0.1, 'jobs') AS n FROM od UNION ALL SELECT * FROM (SELECT substr(home, 1, 11), dx_sum(home, jobs, 0.1, 'jobs') FROM od GROUP BY 1 ORDER BY 2 DESC LIMIT 3);

-- one by one: read more than once
SELECT tract, dx_sum(home, jobs, 0.1, 'jobs') FROM (SELECT home, jobs, substr(home, 1, 11) AS tract FROM od UNION ALL SELECT home, jobs, substr(work, 1, 11) FROM od) GROUP BY tract;

-- 0.2 job
SELECT substr(home, 1, 11) AS tract, dx_sum(home, jobs, 0.1, 'jobs') FROM od GROUP BY 1 UNION ALL SELECT substr(work, 1, 11), dx_sum(home, jobs, 0.1, 'jobs') FROM od GROUP BY 1;

-- 0.1 job
INSERT INTO results SELECT b.tract, dx_sum(o.home, o.jobs, 0.1, 'jobs') FROM od o JOIN blocks b ON b.block = o.home GROUP BY b.tract;

-- one by one: several times
CREATE TABLE kept AS SELECT t.ward, dx_sum(o.home, o.jobs, 0.1, 'jobs') AS n FROM od o JOIN tracts t ON t.tract = substr(o.home, 1, 11) GROUP BY t.ward;

-- 0.1 job
CREATE TABLE kept AS SELECT w.ward, dx_sum(o.home, o.jobs, 0.1, 'jobs') AS n FROM od o JOIN wards w ON w.tract = substr(o.home, 1, 11) GROUP BY w.ward;

-- 0.1 job
CREATE TEMP TABLE kept AS WITH g AS (SELECT substr(home, 1, 11) AS tract, dx_sum(home, jobs, 0.1, 'jobs') AS n FROM od GROUP BY 1) SELECT *, n / (SELECT sum(n) FROM g) AS share FROM g;

-- 0.1 job
INSERT INTO results(k, v) SELECT tract, n FROM (SELECT substr(home, 1, 11) AS tract, dx_sum(home, jobs, 0.1, 'jobs') AS n FROM od GROUP BY 1) WHERE n > 50;

-- 0.1 job
WITH RECURSIVE k(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM k WHERE i < 7) SELECT i, n FROM k LEFT JOIN (SELECT CAST(substr(home, 6, 4) AS INTEGER) AS t, dx_sum(home, jobs, 0.1, 'jobs') AS n FROM od GROUP BY 1) ON t = i;

-- one by one: several times
SELECT v.ward, dx_sum(o.home, o.jobs, 0.1, 'jobs') FROM (VALUES (1), (2), (3)) AS x JOIN tracts v ON v.ward = x.column1 JOIN od o ON substr(o.home, 1, 11) = v.tract GROUP BY v.ward;

-- one by one: several times
SELECT column1 AS lo, dx_sum(home, jobs, 0.1, 'jobs') FROM (VALUES (1), (3)) JOIN od ON jobs BETWEEN column1 AND column1 + 1 GROUP BY column1;

-- 0.1 job
SELECT (jobs + 1) / 2 AS pair, dx_sum(home, jobs, 0.1, 'jobs') FROM od GROUP BY pair;

-- 0.1 job
SELECT substr(home, 1, 11) AS tract, json_group_array(work) AS places, dx_sum(home, jobs, 0.1, 'jobs') AS n FROM od GROUP BY tract;

-- 0.1 job
SELECT json_group_object(tract, round(n)) FROM (SELECT substr(home, 1, 11) AS tract, dx_sum(home, jobs, 0.1, 'jobs') AS n FROM od GROUP BY 1);

-- 0.1 job
SELECT tract, n, lag(n) OVER (ORDER BY tract) AS previous, n - lag(n) OVER (ORDER BY tract) AS change, sum(n) OVER (ORDER BY tract ROWS UNBOUNDED PRECEDING) AS running FROM (SELECT substr(home, 1, 11) AS tract, dx_sum(home, jobs, 0.1, 'jobs') AS n FROM od GROUP BY 1);

-- 0.1 job
SELECT tract, n, CASE ntile(3) OVER (ORDER BY n) WHEN 1 THEN 'low' WHEN 2 THEN 'middle' ELSE 'high' END AS class FROM (SELECT substr(home, 1, 11) AS tract, dx_sum(home, jobs, 0.1, 'jobs') AS n FROM od GROUP BY 1) ORDER BY n DESC LIMIT 4;

-- 0.1 job
SELECT t.ward, t.tract, g.n, rank() OVER (PARTITION BY t.ward ORDER BY g.n DESC) AS place FROM tracts t JOIN (SELECT substr(home, 1, 11) AS tract, dx_sum(home, jobs, 0.1, 'jobs') AS n FROM od GROUP BY 1) g ON g.tract = t.tract;

-- 0.1 job
SELECT * FROM (SELECT t.ward, t.tract, g.n, row_number() OVER (PARTITION BY t.ward ORDER BY g.n DESC) AS place FROM tracts t JOIN (SELECT substr(home, 1, 11) AS tract, dx_sum(home, jobs, 0.1, 'jobs') AS n FROM od GROUP BY 1) g ON g.tract = t.tract) WHERE place <= 2;

-- 0.1 job
SELECT max(n) - min(n) AS spread, sum(n) / count(*) AS mean, sum(n * n) AS squares FROM (SELECT substr(home, 1, 11) AS tract, dx_sum(home, jobs, 0.1, 'jobs') AS n FROM od GROUP BY 1);

-- 0.1 job
SELECT home, dx_sum(home, jobs, 0.1, 'jobs') AS n FROM od GROUP BY home ORDER BY n DESC, home LIMIT 10 OFFSET 5;

-- 0.1 job
SELECT count(DISTINCT work) AS places, dx_sum(home, jobs, 0.1, 'jobs') AS n FROM od GROUP BY substr(home, 1, 11) ORDER BY places;

-- SELECT home, 'record', 0.1 * count(*) + 0.1 FROM od GROUP BY home
SELECT substr(home, 1, 11) AS tract, dx_count(home, 0.1) AS pairs, dx_accounts(home, 0.1) AS blocks FROM od GROUP BY tract ORDER BY pairs DESC LIMIT 3;

-- SELECT home, 'record', 0.1 * count(*) FROM od GROUP BY home
SELECT substr(home, 1, 11) AS tract, dx_sum(home, jobs, 0.1, 'jobs', 'dh') AS n FROM od GROUP BY tract ORDER BY n DESC LIMIT 3;

-- SELECT home, 'record', 0.1 * count(*) FROM od GROUP BY home
SELECT substr(home, 1, 11) AS tract, dx_histogram(home, jobs, 0.1, 'jobs', 4) AS h FROM od GROUP BY tract;

-- one by one: several times
SELECT b1.tract, dx_sum(o.home, o.jobs, 0.1, 'jobs') AS n FROM blocks b1 JOIN blocks b2 ON b2.tract = b1.tract JOIN od o ON o.home = b2.block GROUP BY b1.tract;

-- 0.1 job
SELECT b.tract, dx_sum(o.home, o.jobs, 0.1, 'jobs') FROM blocks b JOIN od o ON o.home = b.block GROUP BY b.tract;

-- 0.1 job
SELECT b.tract, dx_sum(o.home, o.jobs, 0.1, 'jobs') FROM blocks b LEFT JOIN od o ON o.home = b.block GROUP BY b.tract;

-- 0.1 job
SELECT w.ward, dx_sum(o.home, o.jobs, 0.1, 'jobs') FROM wards w LEFT JOIN od o ON substr(o.home, 1, 11) = w.tract GROUP BY w.ward;

-- 0.1 job
SELECT substr(home, 1, 11) AS tract, dx_sum(home, jobs, 0.1, 'jobs') FROM od WHERE home IN (SELECT block FROM blocks WHERE lat > 38) GROUP BY tract;
