-- 0.1 visit
SELECT day, dx_sum(user, n, 0.1, 'visits') AS total FROM visits GROUP BY day ORDER BY total DESC LIMIT 3;

-- 0.2 visit
SELECT day, dx_avg(user, n, 0.1, 'visits') AS mean, dx_max(user, n, 0.1, 'visits') AS most FROM visits GROUP BY day;

-- 0.1 visit
SELECT strftime('%w', day) AS weekday, dx_median(user, n, 0.1, 'visits') AS median FROM visits GROUP BY weekday ORDER BY weekday;

-- 0.1 visit
SELECT dx_avg(user, n, 0.1, 'visits') FROM (SELECT user, count(*) AS n FROM checkins GROUP BY user);

-- 0.1 visit
SELECT dx_avg(user, n, 0.1, 'visits') FROM (SELECT user, count(DISTINCT loc) AS n FROM checkins GROUP BY user);

-- SELECT user, 'record', 0.1 * count(DISTINCT date(t)) FROM checkins GROUP BY user
SELECT date(t) AS day, dx_accounts(user, 0.1) AS people FROM checkins GROUP BY day ORDER BY people DESC LIMIT 3;

-- SELECT user, 'record', 0.1 * count(*) FROM checkins GROUP BY user
SELECT date(t) AS day, dx_count(user, 0.1) AS n FROM checkins GROUP BY day ORDER BY n DESC LIMIT 3;

-- SELECT user, 'record', 0.1 * count(DISTINCT geo_cell(lat, lon, 2000, 'nyc')) FROM checkins GROUP BY user
SELECT geo_cell(lat, lon, 2000, 'nyc') AS cell, dx_accounts(user, 0.1) AS people FROM checkins GROUP BY cell ORDER BY people DESC LIMIT 10;

-- SELECT user, 'record', 0.1 * count(DISTINCT name) FROM checkins JOIN venues USING (loc) GROUP BY user
SELECT v.name, dx_accounts(c.user, 0.1) AS people FROM checkins c JOIN venues v ON v.loc = c.loc GROUP BY v.name ORDER BY people DESC LIMIT 5;

-- SELECT user, 'record', 0.1 * count(DISTINCT loc) FROM checkins JOIN venues USING (loc) GROUP BY user
SELECT v.name, dx_accounts(c.user, 0.1) AS people FROM venues v LEFT JOIN checkins c ON c.loc = v.loc GROUP BY v.loc HAVING people > 2;

-- SELECT user, 'record', 0.1 * count(DISTINCT strftime('%H', t)) FROM checkins GROUP BY user
SELECT strftime('%H', t) AS hour, dx_accounts(user, 0.1) AS people, sum(dx_accounts(user, 0.1)) OVER (ORDER BY strftime('%H', t)) AS running FROM checkins GROUP BY hour;

-- SELECT user, 'record', 0.1 * count(DISTINCT date(t)) FROM checkins GROUP BY user
WITH daily AS (SELECT date(t) AS day, dx_accounts(user, 0.1) AS people FROM checkins GROUP BY day) SELECT day, people, people - lag(people) OVER (ORDER BY day) AS change FROM daily;

-- SELECT user, 'record', 0.1 * count(DISTINCT date(t)) FROM checkins GROUP BY user
WITH daily AS (SELECT date(t) AS day, dx_accounts(user, 0.1) AS people FROM checkins GROUP BY day) SELECT * FROM daily WHERE people > (SELECT avg(people) FROM daily);

-- SELECT user, 'record', 0.1 * count(DISTINCT date(t)) FROM checkins GROUP BY user
WITH daily AS (SELECT date(t) AS day, dx_accounts(user, 0.1) AS people FROM checkins GROUP BY day) SELECT day, max(people) FROM daily;

-- SELECT user, 'record', 0.1 * count(DISTINCT loc) FROM checkins GROUP BY user
SELECT count(*) FROM (SELECT loc, dx_accounts(user, 0.1) AS people FROM checkins GROUP BY loc) WHERE people >= 5;

-- 0.1 record
SELECT dx_accounts(user, 0.1) FROM checkins WHERE loc IN (SELECT loc FROM venues WHERE lat > 40.75);

-- 0.1 record
SELECT dx_accounts(user, 0.1) FROM checkins c WHERE EXISTS (SELECT 1 FROM friends f WHERE f.a = c.user);

-- SELECT user, 'record', 0.1 * count(DISTINCT loc) FROM checkins GROUP BY user
SELECT dx_count(user, 0.1) FROM (SELECT DISTINCT user, loc FROM checkins);

-- SELECT user, 'record', 0.1 * count(DISTINCT loc) FROM checkins GROUP BY user
SELECT loc, dx_count(user, 0.1) AS n FROM (SELECT DISTINCT user, loc FROM checkins) GROUP BY loc ORDER BY n DESC LIMIT 3;

-- 0.1 record
SELECT dx_heatmap(lat_user, lat, lon, 0.1, 'nyc', 2000) FROM (SELECT user AS lat_user, lat, lon FROM checkins GROUP BY user);

-- 0.1 record
SELECT dx_heatmap(user, lat, lon, 0.1, 'nyc', 5000) FROM (SELECT user, lat, lon, row_number() OVER (PARTITION BY user ORDER BY t DESC) AS n FROM checkins) WHERE n = 1;

-- 0.01 m
SELECT dx_centroid(user, lat, lon, 0.01, 'nyc') FROM checkins;

-- 0.01 m
SELECT user, geoind_laplace(user, avg(lat), avg(lon), 0.01) AS home FROM checkins GROUP BY user;

-- SELECT user, 'm', 0.01 * count(*) FROM checkins WHERE t = (SELECT max(t) FROM checkins c WHERE c.user = checkins.user) GROUP BY user
SELECT user, geoind_laplace(user, lat, lon, 0.01) AS at FROM checkins WHERE t = (SELECT max(t) FROM checkins c WHERE c.user = checkins.user) ORDER BY user;

-- 0.01 m
SELECT c.user, g.lat, g.lon FROM (SELECT user, lat, lon, max(t) FROM checkins GROUP BY user) c, geoind_laplace(c.user, c.lat, c.lon, 0.01) g ORDER BY c.user LIMIT 5;

-- 0.01 m
SELECT user, at FROM (SELECT user, geoind_laplace(user, lat, lon, 0.01) AS at FROM checkins GROUP BY user);

-- SELECT user, 'm', 0.001 * count(*) FROM checkins  GROUP BY user
CREATE TABLE moved AS SELECT c.user, g.lat, g.lon FROM checkins c, geoind_laplace(c.user, c.lat, c.lon, 0.001, 'nyc') g;

-- SELECT user, 'm', 0.001 * count(*) FROM checkins WHERE date(t) = '2010-10-07' GROUP BY user
INSERT INTO results SELECT c.user, g.wkt FROM checkins c, geoind_laplace(c.user, c.lat, c.lon, 0.001, 'nyc') g WHERE date(c.t) = '2010-10-07';

-- SELECT user, 'm', 0.001 * count(*) FROM checkins  GROUP BY user
WITH points AS MATERIALIZED (SELECT g.lat, g.lon FROM checkins c, geoind_laplace(c.user, c.lat, c.lon, 0.001, 'nyc') g) SELECT geo_cell(lat, lon, 2000, 'nyc') AS cell, count(*) AS n FROM points GROUP BY cell ORDER BY n DESC LIMIT 5;

-- SELECT user, 'm', 0.001 * count(*) FROM checkins  GROUP BY user
SELECT round(g.lat, 2) AS lat, round(g.lon, 2) AS lon, count(*) AS n FROM checkins c, geoind_laplace(c.user, c.lat, c.lon, 0.001, 'nyc') g GROUP BY 1, 2 ORDER BY n DESC LIMIT 5;

-- 0.1 hour
SELECT strftime('%w', t) AS weekday, dx_avg(user, CAST(strftime('%H', t) AS INTEGER), 0.1, 'hour') AS hour FROM checkins GROUP BY weekday;

-- 0.1 hour
SELECT strftime('%w', t) AS weekday, dx_median(user, strftime('%H', t) + strftime('%M', t) / 60.0, 0.1, 'hour') AS hour FROM checkins GROUP BY weekday ORDER BY hour;

-- 0.1 hour
SELECT date(t) AS day, dx_avg(user, round((unixepoch(t) % 86400) / 3600.0, 2), 0.1, 'hour') AS hour FROM checkins GROUP BY day HAVING count(*) >= 5 ORDER BY hour LIMIT 3;

-- 0.1 hour
SELECT date(t) AS day, dx_avg(user, (julianday(t) - julianday(date(t))) * 24, 0.1, 'hour') AS hour FROM checkins GROUP BY day;

-- 0.1 hour
SELECT v.name, dx_avg(c.user, CAST(strftime('%H', c.t) AS INTEGER), 0.1, 'hour') AS hour FROM checkins c JOIN venues v USING (loc) GROUP BY v.name ORDER BY hour LIMIT 5;

-- 0.1 hour
SELECT v.name, c.hour FROM venues v JOIN (SELECT loc, dx_avg(user, CAST(strftime('%H', t) AS INTEGER), 0.1, 'hour') AS hour FROM checkins GROUP BY loc) c ON c.loc = v.loc ORDER BY c.hour;

-- 0.1 hour
WITH g AS (SELECT loc, dx_avg(user, CAST(strftime('%H', t) AS INTEGER), 0.1, 'hour') AS hour FROM checkins GROUP BY loc) SELECT v.name, g.hour FROM g LEFT JOIN venues v ON v.loc = g.loc WHERE g.hour > 12 ORDER BY g.hour DESC LIMIT 3;

-- one by one: several times
SELECT c1.loc, dx_avg(c1.user, CAST(strftime('%H', c1.t) AS INTEGER), 0.1, 'hour') FROM checkins c1 JOIN checkins c2 ON c1.loc = c2.loc AND c1.user <> c2.user GROUP BY c1.loc;

-- one by one: several times
SELECT f.b, dx_avg(c.user, CAST(strftime('%H', c.t) AS INTEGER), 0.1, 'hour') FROM friends f JOIN checkins c ON c.user = f.a GROUP BY f.b;

-- 0.1 hour
SELECT user, dx_avg(user, CAST(strftime('%H', t) AS INTEGER), 0.1, 'hour') AS hour FROM checkins GROUP BY user HAVING count(*) > 5 ORDER BY hour DESC LIMIT 3;

-- 0.1 visit
SELECT first, dx_sum(user, n, 0.1, 'visits') FROM (SELECT user, min(date(t)) AS first, count(*) AS n FROM checkins GROUP BY user) GROUP BY first;

-- 0.1 visit
SELECT months, dx_avg(user, n, 0.1, 'visits') FROM (SELECT user, count(DISTINCT strftime('%Y-%m', t)) AS months, count(*) AS n FROM checkins GROUP BY user) GROUP BY months ORDER BY months;

-- 0.1 record
WITH first AS (SELECT user, min(t) AS t FROM checkins GROUP BY user) SELECT date(t) AS day, dx_accounts(user, 0.1) FROM first GROUP BY day;

-- 0.1 visit
WITH per AS (SELECT user, loc, count(*) AS n FROM checkins GROUP BY user, loc), top AS (SELECT *, rank() OVER (PARTITION BY user ORDER BY n DESC, loc) AS place FROM per) SELECT loc, dx_sum(user, n, 0.1, 'visits') AS s FROM top WHERE place = 1 GROUP BY loc ORDER BY s DESC LIMIT 3;

-- SELECT user, 'record', 0.1 * count(DISTINCT date(t)) FROM checkins GROUP BY user
WITH RECURSIVE days(day) AS (VALUES ('2010-10-01') UNION ALL SELECT date(day, '+1 day') FROM days WHERE day < '2010-10-10') SELECT days.day, people FROM days LEFT JOIN (SELECT date(t) AS day, dx_accounts(user, 0.1) AS people FROM checkins GROUP BY 1) g ON g.day = days.day;

-- one by one
WITH RECURSIVE days(day) AS (VALUES ('2010-10-01') UNION ALL SELECT date(day, '+1 day') FROM days WHERE day < '2010-10-10') SELECT days.day, (SELECT dx_sum(user, n, 0.1, 'visits') FROM visits WHERE visits.day = days.day) AS n FROM days;

-- SELECT user, 'visit', 0.1 FROM checkins WHERE date(t) IS NOT NULL GROUP BY user
WITH RECURSIVE days(day) AS (VALUES ('2010-10-01') UNION ALL SELECT date(day, '+1 day') FROM days WHERE day < '2010-10-10'), g AS MATERIALIZED (SELECT day, dx_sum(user, n, 0.1, 'visits') AS n FROM visits GROUP BY day) SELECT days.day, g.n FROM days LEFT JOIN g USING (day);

-- one by one: several times
WITH RECURSIVE days(day) AS (VALUES ('2010-10-01') UNION ALL SELECT date(day, '+1 day') FROM days WHERE day < '2010-10-10') SELECT days.day, dx_sum(user, n, 0.1, 'visits') AS n FROM days LEFT JOIN visits USING (day) GROUP BY days.day;

-- one by one: several times
SELECT a.day, dx_sum(b.user, b.n, 0.1, 'visits') AS week FROM (SELECT DISTINCT day FROM visits) a JOIN visits b ON b.day BETWEEN date(a.day, '-6 days') AND a.day GROUP BY a.day;

-- 0.1 visit
SELECT day, avg(n) OVER (ORDER BY day ROWS 6 PRECEDING) AS week FROM (SELECT day, dx_sum(user, n, 0.1, 'visits') AS n FROM visits GROUP BY day);

-- SELECT user, 'record', 0.1 * count(DISTINCT strftime('%H', t) < '12') FROM checkins GROUP BY user
SELECT CASE WHEN strftime('%H', t) < '12' THEN 'am' ELSE 'pm' END AS half, dx_accounts(user, 0.1) FROM checkins GROUP BY half;

-- SELECT user, 'record', 0.1 * count(DISTINCT strftime('%H', t) < '12') FROM checkins GROUP BY user
SELECT dx_accounts(user, 0.1) FILTER (WHERE strftime('%H', t) < '12') AS am, dx_accounts(user, 0.1) FILTER (WHERE strftime('%H', t) >= '12') AS pm FROM checkins;

-- SELECT user, 'record', 0.1 * count(*) + 0.1 FROM checkins GROUP BY user
SELECT 'checkins' AS what, dx_count(user, 0.1) AS n FROM checkins UNION ALL SELECT 'people', dx_accounts(user, 0.1) FROM checkins;

-- 0.1 record
SELECT n, dx_accounts(user, 0.1) AS people FROM (SELECT user, count(*) AS n FROM checkins GROUP BY user) GROUP BY n ORDER BY n;

-- 0.1 record
SELECT min(n, 5) AS size, dx_accounts(user, 0.1) AS people FROM (SELECT user, count(*) AS n FROM checkins GROUP BY user) GROUP BY size;

-- 0.1 record
SELECT dx_histogram(user, n, 0.1, 'visits', 10) FROM (SELECT user, count(*) AS n FROM checkins GROUP BY user);

-- 0.1 record
SELECT dx_percentile(user, n, 90, 0.1, 'visits', 'dh') FROM (SELECT user, count(*) AS n FROM checkins GROUP BY user);

-- 0.1 record
SELECT key, value FROM json_each((SELECT dx_histogram(user, n, 0.1, 'visits', 10) FROM (SELECT user, count(*) AS n FROM checkins GROUP BY user)));

-- SELECT user, 'record', 0.1 * count(DISTINCT loc) FROM checkins JOIN venues USING (loc) GROUP BY user
SELECT v.name || ' (' || dx_accounts(c.user, 0.1) || ')' AS line FROM checkins c, venues v WHERE c.loc = v.loc GROUP BY c.loc ORDER BY line;

-- SELECT user, 'visit', 0.1 FROM checkins GROUP BY user UNION ALL SELECT user, 'record', 0.1 * count(DISTINCT date(t)) FROM checkins GROUP BY user
SELECT day, round(1.0 * dx_sum(user, n, 0.1, 'visits') / dx_accounts(user, 0.1), 2) AS each FROM visits GROUP BY day ORDER BY each DESC LIMIT 3;

-- 0.1 visit
SELECT lower(v.name) AS name, dx_sum(c.user, c.n, 0.1, 'visits') AS s FROM (SELECT user, loc, count(*) AS n FROM checkins GROUP BY user, loc) c JOIN venues v ON v.loc = c.loc WHERE v.name LIKE '%1%' GROUP BY 1;

-- 0.1 hour
SELECT loc, dx_avg(user, hour, 0.1, 'hour') FROM places WHERE loc IN (SELECT loc FROM venues ORDER BY loc LIMIT 5) GROUP BY loc;

-- 0.1 hour
SELECT hour / 6 AS part, dx_avg(user, hour, 0.1, 'hour') FROM places WHERE hour = 9 OR hour = 20 OR loc = (SELECT min(loc) FROM venues) GROUP BY part;

-- 0.1 hour
SELECT hour / 6 AS part, dx_avg(user, hour, 0.1, 'hour') FROM places WHERE id IN (1, 2, 3, 30, 31) GROUP BY part;

-- 0.1 hour
SELECT v.name, dx_avg(p.user, p.hour, 0.1, 'hour') FROM venues v CROSS JOIN places p ON p.loc = v.loc GROUP BY v.loc;

-- 0.1 hour
SELECT v.name, dx_avg(p.user, p.hour, 0.1, 'hour') FROM places p JOIN venues v USING (loc) GROUP BY v.loc;

-- one by one: several times
SELECT v.name, dx_avg(p.user, p.hour, 0.1, 'hour') FROM venues v CROSS JOIN places p ON p.loc >= v.loc GROUP BY v.loc;
