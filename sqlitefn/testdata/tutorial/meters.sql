-- 0.1 kwh
SELECT date(t_local) AS day, dx_sum(meter, kwh, 0.1, 'kwh') AS total FROM readings GROUP BY day;

-- 0.1 kwh
SELECT substr(t_local, 1, 10) AS d, dx_sum(meter, kwh, 0.1, 'kwh') AS s FROM readings GROUP BY 1 ORDER BY 2 DESC LIMIT 3;

-- 0.1 kwh
SELECT strftime('%H', t_local) AS hour, dx_avg(meter, kwh, 0.1, 'kwh') AS mean FROM readings GROUP BY hour ORDER BY mean DESC;

-- 0.1 kwh
SELECT strftime('%H', t_local) AS hour, dx_sum(meter, kwh, 0.1, 'kwh') AS s FROM readings GROUP BY hour ORDER BY s DESC LIMIT 5 OFFSET 2;

-- 0.1 kwh
SELECT meter, dx_sum(meter, kwh, 0.1, 'kwh') AS total FROM readings GROUP BY meter ORDER BY total DESC LIMIT 10;

-- 0.1 kwh
SELECT strftime('%w', t_local) AS weekday, dx_median(meter, kwh, 0.1, 'kwh') FROM readings GROUP BY weekday ORDER BY weekday;

-- 0.1 kwh
SELECT CASE WHEN CAST(strftime('%H', t_local) AS INTEGER) BETWEEN 7 AND 22 THEN 'day' ELSE 'night' END AS part, dx_sum(meter, kwh, 0.1, 'kwh') FROM readings GROUP BY part;

-- 0.1 kwh
SELECT date(t_local) AS day, dx_sum(meter, kwh, 0.1, 'kwh') AS total FROM readings GROUP BY day HAVING total > 10;

-- 0.1 kwh
SELECT date(t_local) AS day, dx_sum(meter, kwh, 0.1, 'kwh') AS total FROM readings GROUP BY day HAVING count(*) > 100 ORDER BY total LIMIT 5;

-- 0.1 kwh
SELECT date(t_local) AS day, round(dx_sum(meter, kwh, 0.1, 'kwh'), 1) AS total FROM readings WHERE kwh IS NOT NULL GROUP BY day HAVING round(dx_sum(meter, kwh, 0.1, 'kwh'), 1) >= 0;

-- 0.1 kwh
WITH daily AS (SELECT date(t_local) AS day, dx_sum(meter, kwh, 0.1, 'kwh') AS total FROM readings GROUP BY day) SELECT * FROM daily WHERE total > 10 ORDER BY total DESC;

-- 0.1 kwh
WITH daily AS (SELECT date(t_local) AS day, dx_sum(meter, kwh, 0.1, 'kwh') AS total FROM readings GROUP BY day) SELECT day, total FROM daily WHERE total > (SELECT avg(total) FROM daily);

-- 0.1 kwh
WITH daily AS (SELECT date(t_local) AS day, dx_sum(meter, kwh, 0.1, 'kwh') AS total FROM readings GROUP BY day) SELECT a.day, a.total - b.total AS change FROM daily a JOIN daily b ON b.day = date(a.day, '-1 day') ORDER BY a.day;

-- 0.1 kwh
WITH daily AS (SELECT date(t_local) AS day, dx_sum(meter, kwh, 0.1, 'kwh') AS total FROM readings GROUP BY day) SELECT day, total, total - lag(total) OVER (ORDER BY day) AS change FROM daily;

-- 0.1 kwh
WITH daily AS (SELECT date(t_local) AS day, dx_sum(meter, kwh, 0.1, 'kwh') AS total FROM readings GROUP BY day) SELECT day, max(total) FROM daily;

-- 0.1 kwh
WITH daily AS (SELECT date(t_local) AS day, dx_sum(meter, kwh, 0.1, 'kwh') AS total FROM readings GROUP BY day) SELECT min(total), max(total), avg(total) FROM daily;

-- 0.1 kwh
WITH daily AS (SELECT date(t_local) AS day, dx_sum(meter, kwh, 0.1, 'kwh') AS total FROM readings GROUP BY day) SELECT strftime('%w', day) AS weekday, round(avg(total), 2) AS mean, count(*) AS days FROM daily GROUP BY weekday ORDER BY mean DESC;

-- 0.1 kwh
WITH daily AS (SELECT date(t_local) AS day, dx_sum(meter, kwh, 0.1, 'kwh') AS total FROM readings GROUP BY day), ranked AS (SELECT *, rank() OVER (ORDER BY total DESC) AS r FROM daily) SELECT * FROM ranked WHERE r <= 3;

-- 0.1 kwh
WITH daily AS (SELECT date(t_local) AS day, dx_sum(meter, kwh, 0.1, 'kwh') AS total FROM readings GROUP BY day), weekly AS (SELECT strftime('%W', day) AS week, sum(total) AS total FROM daily GROUP BY week) SELECT * FROM weekly ORDER BY week;

-- 0.1 kwh
WITH daily AS (SELECT date(t_local) AS day, dx_sum(meter, kwh, 0.1, 'kwh') AS total FROM readings GROUP BY day) SELECT day, total, round(100.0 * total / (SELECT sum(total) FROM daily), 1) AS share FROM daily;

-- 0.1 kwh
WITH daily(day, total) AS MATERIALIZED (SELECT date(t_local), dx_sum(meter, kwh, 0.1, 'kwh') FROM readings GROUP BY 1) SELECT a.day, b.day FROM daily a, daily b WHERE a.total > 2 * b.total;

-- 0.1 kwh
SELECT * FROM (SELECT date(t_local) AS day, dx_sum(meter, kwh, 0.1, 'kwh') AS total FROM readings GROUP BY day) WHERE total > 5 ORDER BY total DESC LIMIT 5;

-- 0.1 kwh
SELECT day, total, sum(total) OVER (ORDER BY day) AS running FROM (SELECT date(t_local) AS day, dx_sum(meter, kwh, 0.1, 'kwh') AS total FROM readings GROUP BY day);

-- 0.1 kwh
SELECT day, total, avg(total) OVER (ORDER BY day ROWS BETWEEN 6 PRECEDING AND CURRENT ROW) AS moving FROM (SELECT date(t_local) AS day, dx_sum(meter, kwh, 0.1, 'kwh') AS total FROM readings GROUP BY day) ORDER BY day;

-- 0.1 kwh
SELECT day, total, ntile(4) OVER (ORDER BY total) AS quartile FROM (SELECT date(t_local) AS day, dx_sum(meter, kwh, 0.1, 'kwh') AS total FROM readings GROUP BY day);

-- 0.1 kwh
SELECT day, total, total * 100.0 / sum(total) OVER () AS share FROM (SELECT date(t_local) AS day, dx_sum(meter, kwh, 0.1, 'kwh') AS total FROM readings GROUP BY day) ORDER BY share DESC LIMIT 5;

-- 0.1 kwh
SELECT day, first_value(total) OVER w, last_value(total) OVER w, lead(total, 1, 0) OVER w FROM (SELECT date(t_local) AS day, dx_sum(meter, kwh, 0.1, 'kwh') AS total FROM readings GROUP BY day) WINDOW w AS (ORDER BY day);

-- 0.1 kwh
SELECT strftime('%H', t_local) AS hour, dx_sum(meter, kwh, 0.1, 'kwh') AS s, rank() OVER (ORDER BY dx_sum(meter, kwh, 0.1, 'kwh') DESC) AS place FROM readings GROUP BY hour;

-- 0.1 kwh
SELECT strftime('%H', t_local) AS hour, dx_sum(meter, kwh, 0.1, 'kwh') AS s, lag(dx_sum(meter, kwh, 0.1, 'kwh')) OVER (ORDER BY strftime('%H', t_local)) AS before FROM readings GROUP BY hour ORDER BY hour;

-- 0.1 kwh
SELECT strftime('%Y-%m', t_local) AS month, strftime('%H', t_local) AS hour, dx_sum(meter, kwh, 0.1, 'kwh') AS s, row_number() OVER (PARTITION BY strftime('%Y-%m', t_local) ORDER BY dx_sum(meter, kwh, 0.1, 'kwh') DESC) AS place FROM readings GROUP BY month, hour;

-- 0.1 kwh
SELECT * FROM (SELECT date(t_local) AS day, strftime('%H', t_local) AS hour, dx_sum(meter, kwh, 0.1, 'kwh') AS s, row_number() OVER (PARTITION BY date(t_local) ORDER BY dx_sum(meter, kwh, 0.1, 'kwh') DESC) AS place FROM readings GROUP BY 1, 2) WHERE place = 1;

-- 0.1 kwh
SELECT day, total, percent_rank() OVER (ORDER BY total), cume_dist() OVER (ORDER BY total), dense_rank() OVER (ORDER BY total) FROM (SELECT date(t_local) AS day, dx_sum(meter, kwh, 0.1, 'kwh') AS total FROM readings GROUP BY day);

-- 0.1 kwh
SELECT homes.suburb, dx_sum(readings.meter, kwh, 0.1, 'kwh') AS s FROM readings JOIN homes ON homes.meter = readings.meter GROUP BY homes.suburb ORDER BY s DESC;

-- 0.1 kwh
SELECT h.suburb, h.persons, dx_avg(r.meter, r.kwh, 0.1, 'kwh') AS s FROM readings r JOIN homes h USING (meter) GROUP BY h.suburb, h.persons;

-- 0.1 kwh
SELECT h.suburb, dx_sum(r.meter, r.kwh, 0.1, 'kwh') AS s FROM readings r, homes h WHERE h.meter = r.meter AND h.solar = 1 GROUP BY 1 ORDER BY 2 DESC LIMIT 2;

-- 0.1 kwh
SELECT h.suburb, dx_sum(r.meter, r.kwh, 0.1, 'kwh') AS s FROM homes h LEFT JOIN readings r ON r.meter = h.meter GROUP BY h.suburb;

-- 0.1 kwh
SELECT t.name, dx_sum(r.meter, r.kwh, 0.1, 'kwh') AS s FROM tariff t LEFT JOIN readings r ON CAST(substr(r.t_local, 12, 2) AS INTEGER) = t.hour GROUP BY t.hour;

-- 0.1 kwh
SELECT k.day, dx_sum(r.meter, r.kwh, 0.1, 'kwh') AS s FROM keyed k LEFT JOIN readings r ON date(r.t_local) = k.day GROUP BY k.day;

-- one by one: several times
SELECT k.day, dx_sum(r.meter, r.kwh, 0.1, 'kwh') AS s FROM results k LEFT JOIN readings r ON date(r.t_local) = k.day GROUP BY k.day;

-- 0.1 kwh
SELECT substr(t_local, 12, 2) AS hour, dx_sum(meter, kwh, 0.1, 'kwh') AS s FROM readings WHERE rowid IN (1, 2, 3, 5, 8) GROUP BY hour;

-- 0.1 kwh
SELECT substr(t, 12, 2) AS hour, dx_sum(meter, kwh, 0.1, 'kwh') AS s FROM half_hours WHERE t BETWEEN '2013-01-01' AND '2013-01-04' GROUP BY hour;

-- 0.1 kwh
SELECT substr(t, 12, 2) AS hour, dx_sum(meter, kwh, 0.1, 'kwh') AS s FROM half_hours WHERE meter IN (SELECT meter FROM homes WHERE suburb = 'north') GROUP BY hour;

-- 0.1 kwh
SELECT h.persons, dx_sum(r.meter, r.kwh, 0.1, 'kwh') AS s FROM homes h LEFT JOIN half_hours r ON r.meter = h.meter AND r.t >= '2013-01-02' GROUP BY h.persons;

-- 0.1 kwh
SELECT substr(t, 12, 2) AS hour, dx_sum(meter, kwh, 0.1, 'kwh') AS s FROM (SELECT * FROM half_hours ORDER BY meter, kwh DESC LIMIT 100) GROUP BY hour;

-- 0.1 kwh
SELECT h.suburb, dx_sum(r.meter, r.kwh, 0.1, 'kwh') AS s FROM readings r LEFT JOIN homes h ON h.meter = r.meter GROUP BY h.suburb;

-- 0.1 kwh
SELECT t.name, dx_sum(r.meter, r.kwh, 0.1, 'kwh') AS s FROM readings r JOIN tariff t ON CAST(strftime('%H', r.t_local) AS INTEGER) = t.hour GROUP BY t.name;

-- 0.1 kwh
SELECT t.name, round(sum(t.price) * dx_sum(r.meter, r.kwh, 0.1, 'kwh'), 2) AS cost FROM readings r JOIN tariff t ON t.hour = CAST(substr(r.t_local, 12, 2) AS INTEGER) GROUP BY t.name ORDER BY cost;

-- one by one: several times
-- SELECT meter, 'kwh', 0.1 * count(DISTINCT coalesce(name, '')) FROM readings LEFT JOIN holidays ON day = date(t_local) GROUP BY meter
SELECT coalesce(d.name, 'working day') AS kind, dx_avg(r.meter, r.kwh, 0.1, 'kwh') AS s FROM readings r LEFT JOIN holidays d ON d.day = date(r.t_local) GROUP BY kind;

-- 0.1 kwh
WITH g AS MATERIALIZED (SELECT date(t_local) AS day, dx_sum(meter, kwh, 0.1, 'kwh') AS total FROM readings GROUP BY day) SELECT coalesce(h.name, 'working day') AS kind, sum(g.total) FROM g LEFT JOIN holidays h ON h.day = g.day GROUP BY kind;

-- 0.1 kwh
SELECT date(t_local) AS day, dx_sum(meter, kwh, 0.1, 'kwh') FROM readings WHERE date(t_local) IN (SELECT day FROM holidays) GROUP BY day;

-- 0.1 kwh
SELECT date(t_local) AS day, dx_sum(meter, kwh, 0.1, 'kwh') FROM readings WHERE date(t_local) NOT IN (SELECT day FROM holidays) GROUP BY day ORDER BY 2 DESC LIMIT 1;

-- 0.1 kwh
SELECT strftime('%H', t_local) AS hour, dx_sum(meter, kwh, 0.1, 'kwh') FROM readings r WHERE EXISTS (SELECT 1 FROM homes h WHERE h.meter = r.meter AND h.solar) GROUP BY hour;

-- 0.1 kwh
SELECT strftime('%H', t_local) AS hour, dx_sum(meter, kwh, 0.1, 'kwh') FROM readings r WHERE (SELECT persons FROM homes h WHERE h.meter = r.meter) > 2 GROUP BY hour;

-- 0.1 kwh
SELECT strftime('%H', t_local) AS hour, dx_sum(meter, kwh, 0.1, 'kwh') FROM readings WHERE meter IN (SELECT meter FROM homes WHERE suburb = 'north') GROUP BY hour ORDER BY hour;

-- 0.1 kwh
SELECT (SELECT suburb FROM homes h WHERE h.meter = r.meter) AS suburb, dx_sum(meter, kwh, 0.1, 'kwh') FROM readings r GROUP BY suburb;

-- 0.2 kwh
SELECT 'morning' AS part, dx_sum(meter, kwh, 0.1, 'kwh') FROM readings WHERE substr(t_local, 12, 2) < '12' UNION ALL SELECT 'afternoon', dx_sum(meter, kwh, 0.1, 'kwh') FROM readings WHERE substr(t_local, 12, 2) >= '12';

-- 0.2 kwh
SELECT date(t_local) AS k, dx_sum(meter, kwh, 0.1, 'kwh') FROM readings GROUP BY k UNION ALL SELECT 'total', dx_sum(meter, kwh, 0.1, 'kwh') FROM readings;

-- 0.2 kwh
SELECT date(t_local) AS k, dx_sum(meter, kwh, 0.1, 'kwh') AS s FROM readings GROUP BY k UNION ALL SELECT strftime('%H', t_local), dx_sum(meter, kwh, 0.1, 'kwh') FROM readings GROUP BY 1 ORDER BY s DESC LIMIT 10;

-- 0.2 kwh
SELECT date(t_local) AS day, dx_sum(meter, kwh, 0.1, 'kwh') FILTER (WHERE substr(t_local, 12, 2) < '12') AS am, dx_sum(meter, kwh, 0.1, 'kwh') FILTER (WHERE substr(t_local, 12, 2) >= '12') AS pm FROM readings GROUP BY day;

-- 0.2 kwh
SELECT date(t_local) AS day, dx_sum(meter, CASE WHEN substr(t_local, 12, 2) < '12' THEN kwh END, 0.1, 'kwh') AS am, dx_sum(meter, CASE WHEN substr(t_local, 12, 2) >= '12' THEN kwh END, 0.1, 'kwh') AS pm FROM readings GROUP BY day;

-- 0.2 kwh
SELECT date(t_local) AS day, dx_avg(meter, kwh, 0.1, 'kwh') AS mean, dx_max(meter, kwh, 0.1, 'kwh') AS most FROM readings GROUP BY day ORDER BY most DESC LIMIT 7;

-- 0.1 kwh
SELECT date(t_local) AS day, dx_percentile(meter, kwh, 95, 0.1, 'kwh') AS p95 FROM readings GROUP BY day ORDER BY p95 DESC LIMIT 3;

-- 0.2 kwh
SELECT strftime('%H', t_local) AS hour, dx_stddev(meter, kwh, 0.1, 'kwh') AS sd, dx_variance(meter, kwh, 0.1, 'kwh') AS var FROM readings GROUP BY hour ORDER BY sd;

-- 0.1 kwh
SELECT dx_sum(meter, kwh, 0.1, 'kwh') AS total FROM readings;

-- 0.1 kwh
SELECT dx_sum(meter, kwh, 0.1, 'kwh') / count(DISTINCT date(t_local)) AS per_day FROM readings;

-- 0.1 kwh
SELECT printf('%.1f kWh', dx_sum(meter, kwh, 0.1, 'kwh')) AS total FROM readings WHERE date(t_local) = '2013-01-05';

-- 0.1 kwh
SELECT printf('%s: %.1f', date(t_local), dx_sum(meter, kwh, 0.1, 'kwh')) AS line FROM readings GROUP BY date(t_local) ORDER BY date(t_local);

-- 0.1 kwh
SELECT round(julianday(t_local) - 0.5) AS d, dx_sum(meter, kwh, 0.1, 'kwh') AS s FROM readings GROUP BY d ORDER BY s LIMIT 3;

-- 0.1 kwh
SELECT unixepoch(t_local) / 86400 AS d, dx_sum(meter, kwh, 0.1, 'kwh') AS s FROM readings GROUP BY d ORDER BY s LIMIT 3;

-- 0.1 kwh
SELECT date(t_local, 'weekday 0', '-6 days') AS week, dx_sum(meter, kwh, 0.1, 'kwh') AS s FROM readings GROUP BY week ORDER BY week;

-- 0.1 kwh
SELECT date(t_local, 'start of month') AS month, dx_sum(meter, kwh, 0.1, 'kwh') AS s, dx_within(dx_sum(meter, kwh, 0.1, 'kwh')) AS within FROM readings GROUP BY month;

-- 0.1 kwh
SELECT datetime(t_local, '+10 hours') AS t, dx_sum(meter, kwh, 0.1, 'kwh') AS s FROM readings GROUP BY t ORDER BY s DESC LIMIT 20;

-- 0.1 kwh
SELECT json_extract(h.facts, '$.heating') AS heating, dx_sum(r.meter, r.kwh, 0.1, 'kwh') AS s FROM readings r JOIN homes h ON h.meter = r.meter GROUP BY heating ORDER BY s DESC;

-- 0.1 kwh
SELECT h.facts ->> 'heating' AS heating, dx_avg(r.meter, r.kwh, 0.1, 'kwh') AS s FROM readings r JOIN homes h ON h.meter = r.meter GROUP BY heating HAVING s > 0;

-- 0.1 kwh
SELECT json_object('day', date(t_local), 'kwh', dx_sum(meter, kwh, 0.1, 'kwh')) FROM readings GROUP BY date(t_local);

-- 0.1 kwh
SELECT json_group_array(json_object('day', day, 'kwh', total)) FROM (SELECT date(t_local) AS day, dx_sum(meter, kwh, 0.1, 'kwh') AS total FROM readings GROUP BY day ORDER BY day);

-- 0.1 kwh
SELECT group_concat(day || '=' || total, ', ') FROM (SELECT date(t_local) AS day, dx_sum(meter, kwh, 0.1, 'kwh') AS total FROM readings GROUP BY day);

-- 0.1 kwh
SELECT DISTINCT total > 50 AS much FROM (SELECT date(t_local) AS day, dx_sum(meter, kwh, 0.1, 'kwh') AS total FROM readings GROUP BY day);

-- 0.1 kwh
SELECT count(*) FROM (SELECT date(t_local) AS day, dx_sum(meter, kwh, 0.1, 'kwh') AS total FROM readings GROUP BY day) WHERE total > 20;

-- 0.1 kwh
SELECT CASE WHEN total > 50 THEN 'high' WHEN total > 20 THEN 'middle' ELSE 'low' END AS class, count(*) AS days FROM (SELECT date(t_local) AS day, dx_sum(meter, kwh, 0.1, 'kwh') AS total FROM readings GROUP BY day) GROUP BY class ORDER BY days DESC;

-- 0.1 kwh
CREATE TABLE kept AS SELECT date(t_local) AS day, dx_sum(meter, kwh, 0.1, 'kwh') AS total FROM readings GROUP BY day;

-- 0.1 kwh
CREATE TEMP TABLE kept AS SELECT date(t_local) AS day, dx_sum(meter, kwh, 0.1, 'kwh') AS total FROM readings GROUP BY day ORDER BY total DESC LIMIT 10;

-- 0.1 kwh
INSERT INTO results SELECT date(t_local), dx_sum(meter, kwh, 0.1, 'kwh') FROM readings GROUP BY 1;

-- 0.1 kwh
INSERT INTO results(day, total) SELECT date(t_local) AS d, dx_sum(meter, kwh, 0.1, 'kwh') AS s FROM readings GROUP BY d ORDER BY s DESC LIMIT 5;

-- 0.1 kwh
INSERT OR REPLACE INTO results WITH daily AS (SELECT date(t_local) AS day, dx_sum(meter, kwh, 0.1, 'kwh') AS total FROM readings GROUP BY day) SELECT day, total FROM daily WHERE total > 3;

-- 0.1 kwh
SELECT day, dx_sum(meter, kwh, 0.1, 'day') AS total FROM daily_kwh GROUP BY day ORDER BY total DESC LIMIT 3;

-- 0.1 kwh
SELECT strftime('%W', day) AS week, dx_avg(meter, kwh, 0.1, 'day') AS mean FROM daily_kwh GROUP BY week;

-- 0.1 kwh
SELECT dx_median(meter, total, 0.1, 'day') FROM (SELECT meter, date(t_local) AS day, sum(kwh) AS total FROM readings GROUP BY meter, day);

-- 0.1 kwh
SELECT day, dx_max(meter, total, 0.1, 'day') AS most FROM (SELECT meter, date(t_local) AS day, sum(kwh) AS total FROM readings GROUP BY meter, day) GROUP BY day ORDER BY most DESC;

-- one by one: several times
-- SELECT meter, 'kwh', 0.1 * count(DISTINCT date(t_local)) FROM readings WHERE date(t_local) BETWEEN '2013-01-01' AND '2013-01-07' GROUP BY meter
WITH RECURSIVE days(day) AS (SELECT '2013-01-01' UNION ALL SELECT date(day, '+1 day') FROM days WHERE day < '2013-01-07') SELECT days.day, dx_sum(r.meter, r.kwh, 0.1, 'kwh') AS s FROM days LEFT JOIN readings r ON date(r.t_local) = days.day GROUP BY days.day;

-- 0.1 kwh
WITH RECURSIVE days(day) AS (SELECT '2013-01-01' UNION ALL SELECT date(day, '+1 day') FROM days WHERE day < '2013-01-07'), g AS MATERIALIZED (SELECT date(t_local) AS day, dx_sum(meter, kwh, 0.1, 'kwh') AS total FROM readings GROUP BY day) SELECT days.day, g.total FROM days LEFT JOIN g ON g.day = days.day;

-- one by one: several times
-- SELECT meter, 'kwh', 0.1 * count(DISTINCT substr(t_local, 12, 2)) FROM readings GROUP BY meter
WITH RECURSIVE hours(h) AS (VALUES (0) UNION ALL SELECT h + 1 FROM hours WHERE h < 23) SELECT h, dx_sum(r.meter, r.kwh, 0.1, 'kwh') AS s FROM hours LEFT JOIN readings r ON CAST(strftime('%H', r.t_local) AS INTEGER) = h GROUP BY h ORDER BY h;

-- 0.1 kwh
WITH RECURSIVE hours(h) AS (VALUES (0) UNION ALL SELECT h + 1 FROM hours WHERE h < 23), g AS MATERIALIZED (SELECT CAST(strftime('%H', t_local) AS INTEGER) AS h, dx_sum(meter, kwh, 0.1, 'kwh') AS s FROM readings GROUP BY 1) SELECT h, s FROM hours LEFT JOIN g USING (h) ORDER BY h;

-- 0.1 kwh
WITH RECURSIVE days(day) AS (SELECT '2013-01-01' UNION ALL SELECT date(day, '+1 day') FROM days WHERE day < '2013-01-07'), daily AS (SELECT date(t_local) AS day, dx_sum(meter, kwh, 0.1, 'kwh') AS total FROM readings GROUP BY 1) SELECT days.day, coalesce(daily.total, 0) AS total FROM days LEFT JOIN daily USING (day) ORDER BY days.day;

-- one by one: several times
-- 0.3 kwh
WITH parts(name, lo, hi) AS (VALUES ('night', 0, 6), ('day', 7, 18), ('evening', 19, 23)) SELECT name, dx_sum(meter, kwh, 0.1, 'kwh') AS s FROM readings JOIN parts ON CAST(strftime('%H', t_local) AS INTEGER) BETWEEN lo AND hi GROUP BY name ORDER BY s;

-- 0.1 kwh
WITH parts(name, lo, hi) AS (VALUES ('night', 0, 6), ('day', 7, 18), ('evening', 19, 23)), g AS MATERIALIZED (SELECT CAST(strftime('%H', t_local) AS INTEGER) AS h, dx_sum(meter, kwh, 0.1, 'kwh') AS s FROM readings GROUP BY 1) SELECT name, sum(s) AS s FROM g JOIN parts ON h BETWEEN lo AND hi GROUP BY name ORDER BY s;

-- 0.2 kwh
SELECT a.day, a.total, b.total FROM (SELECT date(t_local) AS day, dx_sum(meter, kwh, 0.1, 'kwh') AS total FROM readings WHERE substr(t_local, 12, 2) < '12' GROUP BY 1) a JOIN (SELECT date(t_local) AS day, dx_sum(meter, kwh, 0.1, 'kwh') AS total FROM readings WHERE substr(t_local, 12, 2) >= '12' GROUP BY 1) b ON a.day = b.day;

-- 0.1 kwh
SELECT strftime('%H', t_local) AS hour, iif(strftime('%w', t_local) IN ('0', '6'), 'weekend', 'week') AS kind, dx_avg(meter, kwh, 0.1, 'kwh') AS mean FROM readings GROUP BY 1, 2 ORDER BY 1, 2;

-- 0.1 kwh
SELECT hour, max(CASE WHEN kind = 'weekend' THEN mean END) AS weekend, max(CASE WHEN kind = 'week' THEN mean END) AS week FROM (SELECT strftime('%H', t_local) AS hour, iif(strftime('%w', t_local) IN ('0', '6'), 'weekend', 'week') AS kind, dx_avg(meter, kwh, 0.1, 'kwh') AS mean FROM readings GROUP BY 1, 2) GROUP BY hour;

-- 0.1 kwh
SELECT meter, dx_sum(meter, kwh, 0.1, 'kwh') AS s FROM readings WHERE t_local >= '2013-01-02' AND t_local < '2013-01-05' GROUP BY meter HAVING s > 1 ORDER BY s DESC;

-- 0.1 kwh
SELECT meter, date(t_local) AS day, dx_max(meter, kwh, 0.1, 'kwh') AS peak FROM readings GROUP BY meter, day ORDER BY peak DESC LIMIT 10;

-- 0.1 kwh
SELECT dx_sum(meter, kwh, 0.1, 'kwh') AS s FROM readings GROUP BY meter % 2;

-- SELECT meter, 'record', 0.1 * count(*) FROM readings WHERE date(t_local) = '2013-01-02' AND substr(t_local, 12, 5) = '12:00' GROUP BY meter
SELECT cast(kwh * 10 AS INTEGER) / 10.0 AS bin, dx_count(meter, 0.1) FROM readings WHERE date(t_local) = '2013-01-02' AND substr(t_local, 12, 5) = '12:00' GROUP BY bin;

-- 0.1 kwh
SELECT day, total FROM (SELECT date(t_local) AS day, dx_sum(meter, kwh, 0.1, 'kwh') AS total FROM readings GROUP BY day) ORDER BY abs(total - 30) LIMIT 1;

-- one by one: several times
-- uncertain
SELECT day, total FROM (SELECT date(t_local) AS day, dx_sum(meter, kwh, 0.1, 'kwh') AS total FROM readings GROUP BY day) WHERE total = (SELECT max(total) FROM (SELECT date(t_local) AS day, dx_sum(meter, kwh, 0.1, 'kwh') AS total FROM readings GROUP BY day));

-- 0.1 kwh
WITH g AS MATERIALIZED (SELECT date(t_local) AS day, dx_sum(meter, kwh, 0.1, 'kwh') AS total FROM readings GROUP BY day) SELECT day, total FROM g WHERE total = (SELECT max(total) FROM g);

-- 0.1 kwh
SELECT t.*, h.name FROM (SELECT date(t_local) AS day, dx_sum(meter, kwh, 0.1, 'kwh') AS total FROM readings GROUP BY day) t LEFT JOIN holidays h ON h.day = t.day ORDER BY t.total DESC;

-- 0.1 kwh
SELECT meter, dx_avg(meter, kwh, 0.1, 'kwh') AS mean FROM (SELECT meter, kwh FROM readings ORDER BY t_local LIMIT 500) GROUP BY meter;

-- 0.1 kwh
SELECT DISTINCT date(t_local) AS day, dx_sum(meter, kwh, 0.1, 'kwh') FROM readings GROUP BY day;

-- 0.1 kwh
SELECT date(t_local) AS day, dx_sum(meter, kwh, 0.1, 'kwh') AS s FROM (SELECT DISTINCT meter, t_local, kwh FROM readings) GROUP BY day;

-- 0.1 kwh
SELECT date(t_local) AS day, dx_sum(meter, kwh, 0.1, 'kwh') AS s FROM readings GROUP BY day LIMIT 3;

-- 0.1 kwh
SELECT date(t_local) AS day, dx_sum(meter, kwh, 0.1, 'kwh') AS s FROM readings GROUP BY day EXCEPT SELECT day, 0 FROM holidays;

-- one by one: several times
SELECT a.meter, dx_avg(a.meter, b.kwh - a.kwh, 0.1, 'kwh') AS change FROM readings a JOIN readings b ON b.meter = a.meter AND b.t_local = strftime('%Y-%m-%dT%H:%M', a.t_local, '+1 day') GROUP BY a.meter;

-- one by one: several times
-- SELECT meter, 'kwh', 0.1 * count(DISTINCT date(t_local)) FROM readings GROUP BY meter
SELECT date(t_local) AS day, dx_sum(meter, kwh - previous, 0.1, 'kwh') FROM (SELECT meter, t_local, kwh, lag(kwh) OVER (PARTITION BY meter ORDER BY t_local) AS previous FROM readings) GROUP BY day;

-- 0.1 kwh
SELECT date(t_local) AS day, dx_sum(meter, kwh, 0.1, 'kwh') AS s FROM (SELECT *, row_number() OVER (PARTITION BY meter, date(t_local) ORDER BY t_local) AS n FROM readings) WHERE n <= 3 GROUP BY day;

-- 0.1 kwh
SELECT date(t_local) AS day, dx_sum(meter, kwh, 0.1, 'kwh') AS s FROM (SELECT *, rank() OVER (PARTITION BY meter ORDER BY t_local DESC) AS n FROM readings) WHERE n <= 96 GROUP BY day ORDER BY s DESC LIMIT 2;

-- 0.1 kwh
SELECT round(total / 10) * 10 AS bin, count(*) FROM (SELECT date(t_local) AS day, dx_sum(meter, kwh, 0.1, 'kwh') AS total FROM readings GROUP BY 1) GROUP BY bin ORDER BY bin;

-- 0.1 kwh
SELECT upper(substr(strftime('%m', t_local), 1)) AS m, replace(date(t_local), '-', '/') AS d, dx_sum(meter, kwh, 0.1, 'kwh') AS s FROM readings GROUP BY m, d ORDER BY s DESC, d LIMIT 4;

-- 0.2 kwh
SELECT date(t_local) AS day, nullif(dx_sum(meter, kwh, 0.1, 'kwh'), 0) AS s, ifnull(dx_avg(meter, kwh, 0.1, 'kwh'), 0) AS a FROM readings GROUP BY day;

-- 0.1 kwh
SELECT date(t_local) AS day, dx_sum(meter, coalesce(kwh, 0), 0.1, 'kwh') AS s FROM readings GROUP BY day ORDER BY s;

-- 0.1 kwh
SELECT date(t_local) AS day, dx_sum(meter, min(kwh, 1.5), 0.1, 'kwh') AS s FROM readings GROUP BY day ORDER BY s;

-- 0.1 kwh
SELECT date(t_local) AS day, dx_sum(meter, round(kwh, 1), 0.1, 'kwh') AS s FROM readings GROUP BY day ORDER BY s;

-- one by one: tariff may be used several times
-- SELECT meter, 'kwh', 0.1 * count(DISTINCT date(t_local)) FROM readings GROUP BY meter
SELECT date(t_local) AS day, dx_sum(meter, kwh * price, 0.1, 'kwh') AS s FROM readings JOIN tariff ON tariff.hour = strftime('%H', t_local) + 0 GROUP BY day ORDER BY s;

-- 0.1 kwh
WITH g AS MATERIALIZED (SELECT date(t_local) AS day, CAST(strftime('%H', t_local) AS INTEGER) AS hour, dx_sum(meter, kwh, 0.1, 'kwh') AS s FROM readings GROUP BY 1, 2) SELECT day, sum(s * price) AS s FROM g JOIN tariff USING (hour) GROUP BY day ORDER BY s;

-- one by one: not read from one row
-- SELECT meter, 'kwh', 0.1 * count(DISTINCT date(t_local)) FROM readings GROUP BY meter
SELECT date(t_local) AS day, dx_sum(meter, kwh - (SELECT avg(kwh) FROM readings), 0.1, 'kwh') AS s FROM readings GROUP BY day;

-- 0.1 kwh
SELECT date(t_local) AS day, dx_sum(meter, CAST(kwh AS REAL), 0.1, 'kwh') FROM readings WHERE kwh < (SELECT max(kwh) FROM readings) GROUP BY day;

-- one by one: not read from one row
-- SELECT meter, 'kwh', 0.1 * count(DISTINCT date(t_local)) FROM readings GROUP BY meter
SELECT date(t_local) AS day, dx_sum(meter, 1, 0.1, 'kwh') FROM readings GROUP BY day;

-- 0.1 kwh
WITH g AS (SELECT date(t_local) AS day, dx_sum(meter, kwh, 0.1, 'kwh') AS s FROM readings GROUP BY 1) SELECT (SELECT max(s) FROM g) - (SELECT min(s) FROM g) AS spread;

-- 0.1 kwh
WITH g AS (SELECT date(t_local) AS day, dx_sum(meter, kwh, 0.1, 'kwh') AS s FROM readings GROUP BY 1), RECURSIVE_running AS (SELECT day, s, (SELECT sum(s) FROM g AS b WHERE b.day <= g.day) AS running FROM g) SELECT * FROM RECURSIVE_running;

-- 0.1 kwh
SELECT day, s, nth_value(s, 2) OVER (ORDER BY day), sum(s) FILTER (WHERE s > 50) OVER (ORDER BY day) FROM (SELECT date(t_local) AS day, dx_sum(meter, kwh, 0.1, 'kwh') AS s FROM readings GROUP BY 1);

-- 0.1 kwh
SELECT day, s, avg(s) OVER (ORDER BY day ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE CURRENT ROW) FROM (SELECT date(t_local) AS day, dx_sum(meter, kwh, 0.1, 'kwh') AS s FROM readings GROUP BY 1);

-- 0.1 kwh
SELECT day, s, count(*) OVER (ORDER BY s RANGE BETWEEN 5 PRECEDING AND 5 FOLLOWING) FROM (SELECT date(t_local) AS day, dx_sum(meter, kwh, 0.1, 'kwh') AS s FROM readings GROUP BY 1);

-- 0.1 kwh
SELECT date(t_local) AS day, dx_sum(meter, kwh, 0.1, 'kwh') AS s FROM readings GROUP BY day HAVING s BETWEEN 20 AND 200 ORDER BY CASE WHEN s > 50 THEN 0 ELSE 1 END, day;

-- 0.1 kwh
SELECT group_concat(DISTINCT round(s)), total(s), count(DISTINCT round(s)) FROM (SELECT date(t_local) AS day, dx_sum(meter, kwh, 0.1, 'kwh') AS s FROM readings GROUP BY 1);

-- 0.1 kwh
INSERT INTO results SELECT date(t_local), dx_sum(meter, kwh, 0.1, 'kwh') FROM readings WHERE true GROUP BY 1 ON CONFLICT DO NOTHING;

-- 0.1 kwh
INSERT INTO keyed SELECT date(t_local), dx_sum(meter, kwh, 0.1, 'kwh') FROM readings WHERE true GROUP BY 1 ON CONFLICT(day) DO UPDATE SET total = excluded.total;

-- 0.1 kwh
WITH g AS (SELECT date(t_local) AS day, dx_sum(meter, kwh, 0.1, 'kwh') AS s FROM readings GROUP BY 1) INSERT INTO results SELECT * FROM g WHERE s > (SELECT avg(s) FROM g);

-- one by one: several times
-- SELECT meter, 'kwh', 0.1 * count(DISTINCT date(t_local)) FROM readings GROUP BY meter
UPDATE results SET total = (SELECT dx_sum(meter, kwh, 0.1, 'kwh') FROM readings WHERE date(t_local) = results.day);

-- 0.1 kwh
UPDATE keyed SET total = g.s FROM (SELECT date(t_local) AS day, dx_sum(meter, kwh, 0.1, 'kwh') AS s FROM readings GROUP BY 1) g WHERE g.day = keyed.day;

-- one by one: not understood
-- uncertain
DELETE FROM results WHERE total < (SELECT dx_sum(meter, kwh, 0.1, 'kwh') FROM readings);

-- 0.1 kwh
SELECT * FROM daily_answers ORDER BY s DESC LIMIT 3;

-- one by one: several times
-- uncertain
SELECT a.day, a.s FROM daily_answers a WHERE a.s = (SELECT max(s) FROM daily_answers);

-- 0.1 kwh
WITH g AS MATERIALIZED (SELECT * FROM daily_answers) SELECT day, s FROM g WHERE s = (SELECT max(s) FROM g);

-- 0.1 kwh
SELECT a.day, a.s, b.s FROM daily_answers a JOIN daily_answers b ON b.day = date(a.day, '+1 day');

-- 0.1 kwh
SELECT strftime('%w', day) AS wd, avg(s), max(s) - min(s) FROM daily_answers GROUP BY wd HAVING avg(s) > 10 ORDER BY 2 DESC;

-- uncertain
SELECT day FROM daily_answers WHERE (strftime('%w', day), s > 30) IN (VALUES ('1', 1), ('2', 1));

-- 0.1 kwh
SELECT count(*) FILTER (WHERE s > 50) AS high, count(*) FILTER (WHERE s <= 50) AS low FROM daily_answers;

-- 0.1 kwh
WITH RECURSIVE g AS MATERIALIZED (SELECT row_number() OVER (ORDER BY day) AS n, s FROM daily_answers), c(n, acc) AS (SELECT 1, (SELECT s FROM g WHERE n = 1) UNION ALL SELECT c.n + 1, c.acc * 0.5 + g.s FROM c JOIN g ON g.n = c.n + 1) SELECT * FROM c;

-- 0.1 kwh
SELECT day, s FROM daily_answers LIMIT (SELECT count(*) / 2 FROM holidays);

-- 0.2 kwh
SELECT day, s FROM daily_answers ORDER BY s LIMIT 1 OFFSET (SELECT count(*) / 2 FROM daily_answers);

-- 0.1 kwh
SELECT avg(s) FROM (SELECT s, row_number() OVER (ORDER BY s) AS n, count(*) OVER () AS c FROM daily_answers) WHERE n IN ((c + 1) / 2, (c + 2) / 2);

-- 0.1 kwh
SELECT t.name, g.s FROM tariff t LEFT JOIN (SELECT CAST(strftime('%H', t_local) AS INTEGER) AS hour, dx_sum(meter, kwh, 0.1, 'kwh') AS s FROM readings GROUP BY 1) g ON g.hour = t.hour ORDER BY t.hour;

-- 0.1 kwh
SELECT meter, dx_sum(meter, kwh, 0.1, 'kwh') AS s FROM readings WHERE meter GLOB '*1*' COLLATE NOCASE GROUP BY meter ORDER BY meter COLLATE NOCASE;

-- 0.1 kwh
SELECT date(t_local) AS day, dx_sum(meter, kwh, 0.1, 'kwh') IS DISTINCT FROM 0 AS any FROM readings GROUP BY day;

-- 0.1 kwh
SELECT date(t_local) AS day, dx_sum(meter, kwh, 0.1, 'kwh') AS s, dx_within(dx_sum(meter, kwh, 0.1, 'kwh')) AS within FROM readings GROUP BY day ORDER BY s DESC LIMIT 3;

-- 0.1 kwh
SELECT date(t_local) AS day, dx_sum(meter, kwh, 0.1, 'kwh') AS s FROM readings GROUP BY day ORDER BY s DESC, random() LIMIT 3;

-- 0.1 kwh
SELECT date(t_local) AS day, dx_sum(meter, kwh, 0.1, 'kwh') AS s FROM readings WHERE date(t_local) = (SELECT max(date(t_local)) FROM readings) GROUP BY day;

-- 0.1 kwh
SELECT strftime('%H', t_local) AS hour, dx_sum(meter, kwh, 0.1, 'kwh') AS s FROM readings WHERE date(t_local) >= date('2013-01-08', '-7 days') GROUP BY hour ORDER BY s DESC;

-- 0.1 kwh
SELECT strftime('%H', t_local) AS hour, dx_sum(meter, kwh, 0.1, 'kwh') AS s FROM readings WHERE date(t_local) >= date('now', '-30 years') GROUP BY hour ORDER BY s DESC LIMIT 2;

-- uncertain
SELECT suburb, s, round(100 * s / (SELECT sum(s) FROM (SELECT dx_sum(meter, kwh, 0.1, 'kwh') AS s FROM readings)), 1) AS share FROM (SELECT h.suburb, dx_sum(r.meter, r.kwh, 0.1, 'kwh') AS s FROM readings r JOIN homes h USING (meter) GROUP BY 1);

-- 0.1 kwh
WITH g AS MATERIALIZED (SELECT h.suburb, dx_sum(r.meter, r.kwh, 0.1, 'kwh') AS s FROM readings r JOIN homes h USING (meter) GROUP BY 1) SELECT suburb, s, round(100 * s / (SELECT sum(s) FROM g), 1) AS share FROM g;

-- 0.1 kwh
SELECT CASE WHEN s > 40 THEN 'much' ELSE 'little' END AS how, count(*), round(avg(s)) FROM daily_answers GROUP BY 1 HAVING count(*) > 1 ORDER BY 2 DESC LIMIT 1;

-- 0.2 kwh
SELECT 'weekend' AS kind, dx_avg(meter, kwh, 0.1, 'kwh') AS mean FROM readings WHERE strftime('%w', t_local) IN ('0', '6') UNION ALL SELECT 'week', dx_avg(meter, kwh, 0.1, 'kwh') FROM readings WHERE strftime('%w', t_local) NOT IN ('0', '6') ORDER BY mean DESC LIMIT 1;

-- 0.2 kwh
SELECT * FROM (SELECT 'a' AS k, dx_sum(meter, kwh, 0.1, 'kwh') AS s FROM readings) UNION ALL SELECT * FROM (SELECT date(t_local), dx_sum(meter, kwh, 0.1, 'kwh') FROM readings GROUP BY 1 ORDER BY 2 DESC LIMIT 3);

-- 0.1 kwh
SELECT h.suburb, date(r.t_local) AS day, dx_sum(r.meter, r.kwh, 0.1, 'kwh') AS s, rank() OVER (PARTITION BY h.suburb ORDER BY dx_sum(r.meter, r.kwh, 0.1, 'kwh') DESC) AS place FROM readings r JOIN homes h USING (meter) GROUP BY 1, 2 ORDER BY place LIMIT 3;

-- 0.1 kwh
SELECT * FROM (SELECT h.suburb, date(r.t_local) AS day, dx_sum(r.meter, r.kwh, 0.1, 'kwh') AS s, row_number() OVER (PARTITION BY h.suburb ORDER BY dx_sum(r.meter, r.kwh, 0.1, 'kwh') DESC) AS place FROM readings r JOIN homes h USING (meter) GROUP BY 1, 2) WHERE place = 1 ORDER BY s DESC;

-- 0.1 kwh
SELECT h.suburb, group_concat(day || ':' || round(s)) FROM (SELECT meter, date(t_local) AS day, dx_sum(meter, kwh, 0.1, 'kwh') AS s FROM readings GROUP BY 1, 2) g JOIN homes h ON h.meter = g.meter GROUP BY 1;

-- 0.1 kwh
SELECT date(t_local) AS day, sum(kwh > 1) AS n, dx_sum(meter, kwh > 1, 0.1, 'kwh') AS s FROM readings GROUP BY day;

-- one by one: several times
SELECT r.meter, dx_sum(r.meter, r.kwh, 0.1, 'kwh') AS s FROM readings r INNER JOIN (SELECT meter, max(t_local) AS t FROM readings GROUP BY meter) l ON l.meter = r.meter AND l.t = r.t_local GROUP BY r.meter;

-- 0.1 kwh
SELECT r.meter, dx_sum(r.meter, r.kwh, 0.1, 'kwh') AS s FROM readings r WHERE r.kwh = (SELECT max(kwh) FROM readings x WHERE x.meter = r.meter) GROUP BY r.meter;

-- one by one: several times
-- SELECT meter, 'kwh', 0.1 * count(DISTINCT date(t_local)) FROM readings GROUP BY meter
SELECT date(t_local) AS day, dx_max(meter, s, 0.1, 'day') FROM (SELECT meter, t_local, sum(kwh) OVER (PARTITION BY meter, date(t_local)) AS s FROM readings) GROUP BY day;

-- 0.1 record
SELECT bucket, dx_count(meter, 0.1) FROM (SELECT meter, width_bucket AS bucket FROM (SELECT meter, CAST(avg(kwh) * 10 AS INTEGER) AS width_bucket FROM readings GROUP BY meter)) GROUP BY bucket ORDER BY bucket;

-- 0.1 kwh
SELECT json_group_array(s) FROM daily_answers WHERE s > 10;

-- 0.1 kwh
SELECT key, value FROM (SELECT json_group_object(day, s) AS o FROM daily_answers), json_each(o) ORDER BY value DESC LIMIT 3;

-- 0.1 kwh
SELECT dx_sum(meter, total, 0.1, 'day') FROM (SELECT meter, sum(kwh) AS total FROM readings GROUP BY meter, date(t_local)) GROUP BY NULL;

-- 0.1 kwh
SELECT CAST(s AS INTEGER) / 10 * 10 AS bin, printf('%5.1f', min(s)), replace(hex(zeroblob(count(*))), '00', '*') AS bar FROM daily_answers GROUP BY bin;

-- 0.2 kwh
VALUES ((SELECT dx_sum(meter, kwh, 0.1, 'kwh') FROM readings)), ((SELECT dx_avg(meter, kwh, 0.1, 'kwh') FROM readings));
