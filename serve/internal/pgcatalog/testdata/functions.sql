SELECT greatest(1, NULL, 3), least('b', 'a'), greatest(NULL, NULL), least(2.5, 2)
SELECT width_bucket(5.35, 0.024, 10.06, 5), width_bucket(-1, 0, 10, 5), width_bucket(10, 0, 10, 5), width_bucket(3, 10, 0, 5), width_bucket(4, ARRAY[1, 3, 5])
SELECT div(7, 2), div(-7, 2), trunc(1.567, 2), trunc(-1.567, 1), trunc(1234.5, -2)
SELECT lpad('hi', 5, 'xy'), rpad('hi', 5), lpad('hello', 2), repeat('ab', 3), reverse('abc'), initcap('hello wORLD-1x'), repeat('x', -1)
SELECT to_char(timestamp '2024-03-05 04:07:09', 'YYYY-MM-DD HH24:MI:SS.MS US'), to_char(timestamp '2024-03-05 14:07:09', 'HH12:MI AM a.m. HH:MI pm')
SELECT to_char(timestamp '2024-03-05 14:07:09', 'Day, DD Month YYYY|FMDay, FMDD FMMonth YYYY|DY Dy dy MON Mon mon MONTH month DAY day')
SELECT to_char(timestamp '2024-12-30 00:00:00', 'IYYY-IW ID D DDD WW W Q CC YYY YY Y SSSS "week" IW FMMM FMDDth DDTH')
SELECT to_char(to_timestamp(1709647629.5), 'YYYY MS US TZ tz OF TZH:TZM'), to_char(date '2024-03-05', 'YYYYMMDD'), to_char(timestamp '2024-03-05', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
SELECT to_char(interval '25:01:02', 'HH24:MI:SS'), to_char(interval '1 day 02:03:04.5', 'DD HH24:MI:SS.MS')
SELECT to_char(485, '999'), to_char(-485, '999'), to_char(1485, '9,999'), to_char(148.5, '999.999'), to_char(148.5, 'FM999.999'), to_char(148.5, 'FM999.990')
SELECT to_char(0.1, '0.9'), to_char(-0.1, '99.99'), to_char(-0.1, 'FM9.99'), to_char(0.1, '9.99'), to_char(12, '9990999.9'), to_char(12, 'FM9990999.9'), to_char(0, '999'), to_char(5, '000')
SELECT to_char(485, '999MI'), to_char(-485, '999MI'), to_char(485, 'FM999MI'), to_char(485, 'PL999'), to_char(485, 'SG999'), to_char(-485, 'SG999'), to_char(-485, '999S'), to_char(485, 'S999'), to_char(-12, 'S9999'), to_char(-12, '9999')
SELECT to_char(-485, '999PR'), to_char(485, '999PR'), to_char(482, '999th'), to_char(12345, '999'), to_char(1234567.891, 'FM999,999,999.00'), to_char(1234.5, '999,999.00'), to_char(12, '999,999'), to_char(0.005, '990.00'), to_char(99.999, '99.99')
SELECT to_char(1234.56, '9G999D99'), to_char(7, '"n="99'), to_char(1.5, '9'), to_char(2.5, '9'), to_char(-0.4, '9'), to_char(0, '9.99'), to_char(0, 'FM9.99'), to_char(1, 'FM9.99')
SELECT to_timestamp(0), to_timestamp(1700000000.123456), to_timestamp(-1.5)
SELECT to_timestamp('2024-03-05 14:07:09', 'YYYY-MM-DD HH24:MI:SS'), to_timestamp('05 Mar 2024', 'DD Mon YYYY'), to_timestamp('20240305140709', 'YYYYMMDDHH24MISS'), to_timestamp('03/05/24 02:07 PM', 'MM/DD/YY HH12:MI AM')
SELECT to_date('05 Dec 2000', 'DD Mon YYYY'), to_date('2024-060', 'YYYY-DDD'), to_date('31.12.1999', 'DD.MM.YYYY')
SELECT to_date('2024-13-01', 'YYYY-MM-DD')
SELECT make_date(2024, 2, 29), date_bin('15 minutes', timestamp '2024-03-05 14:37:09', timestamp '2001-01-01')
SELECT make_date(2023, 2, 29)
SELECT age(timestamp '2024-03-31', timestamp '2023-01-30'), age(timestamp '2023-01-30', timestamp '2024-03-31 01:00'), age(timestamp '2024-03-01 00:00', timestamp '2024-02-29 12:00'), age(date '2024-05-01', date '2024-05-01'), age(timestamp '2024-03-30', timestamp '2024-01-31')
SELECT stddev(temperature), stddev_pop(temperature), variance(temperature), var_pop(temperature), stddev_samp(id), var_samp(id) FROM reading
SELECT stddev(id), stddev_pop(id), count(*) FROM reading WHERE id = 1
SELECT extract(epoch FROM to_timestamp(1709647629.5)), extract(decade FROM date '2024-03-05'), extract(century FROM date '2000-03-05'), extract(millennium FROM date '2001-03-05'), extract(milliseconds FROM to_timestamp(1709647629.5))
SELECT timezone('Europe/Paris', timestamp '2024-07-01 12:00'), timezone('America/New_York', to_timestamp(1719835200))
SELECT pg_stat_get_numscans(1), (SELECT count(*) FROM pg_stat_gssapi WHERE pid = -1)
SELECT timestamp '2024-01-31 10:00' + interval '1 month', date '2024-03-31' - interval '1 month', date '2024-01-01' + interval '36 hours', interval '1 day' + timestamp '2024-02-28 12:00' + interval '12 hours'
SELECT to_timestamp(0) + interval '7' day, to_timestamp(86400) - INTERVAL '1 day' - INTERVAL '2 hours', to_timestamp(0) + 2 * interval '1 hour', to_timestamp(0) + (interval '90 minutes' * 3), to_timestamp(0) + interval '1 hour' * 1.5
SELECT interval '1 year 13 months 40 days 25:01:00.5', '1.5 days'::interval, CAST('-1 year 2 days -03:00' AS interval), interval '2 weeks ago', interval 'P1Y2M3DT4H5M6S', interval '1.5 months', interval '0', interval '-1 month +3 days', interval '100 minutes' / 3
SELECT extract(epoch FROM interval '1 month 2 days 03:00:01.5'), extract(day FROM timestamp '2024-03-05 12:00' - timestamp '2024-03-01 06:00'), date_part('hour', interval '26:30'), extract(epoch FROM (timestamp '2024-03-05 12:00' - timestamp '2024-03-01 06:00')) / 3600
SELECT timestamp '2024-03-05 12:00' - timestamp '2024-03-01 06:00', timestamp '2024-03-01' - timestamp '2024-03-05 06:00', interval '1 day' - interval '1 hour', date_trunc('day', timestamp '2024-03-05 12:00') - interval '1 day'
SELECT interval '1 day' < interval '25 hours', interval '24 hours' = interval '1 day', timestamp '2024-03-05' - timestamp '2024-03-01' >= interval '4 days', age(timestamp '2024-03-05', timestamp '2024-01-01') > interval '1 month' AND 1 < 2
SELECT id, (3 || ' days')::interval, to_timestamp(0) + (id || ' hours')::interval FROM reading WHERE hour BETWEEN timestamp '2024-03-01' AND timestamp '2024-03-01' + interval '1 day' ORDER BY id
SELECT id FROM reading ORDER BY hour - timestamp '2024-03-01 11:00' DESC, 1
SELECT id, hour - timestamp '2024-03-01 11:00' AS d FROM reading ORDER BY d DESC
SELECT timestamp '2024-07-01 12:00' AT TIME ZONE 'America/New_York', to_timestamp(0) AT TIME ZONE 'UTC', to_timestamp(0) AT TIME ZONE 'UTC' AT TIME ZONE 'Asia/Tokyo', (timestamp '2024-03-10 02:30') AT TIME ZONE 'America/New_York', timestamp '2024-11-03 01:30' AT TIME ZONE 'America/New_York', timestamp '2024-03-31 02:30' AT TIME ZONE 'Europe/Paris', timestamp '2024-10-27 02:30' AT TIME ZONE 'Europe/Paris'
SELECT date_trunc('hour', hour AT TIME ZONE 'UTC' AT TIME ZONE 'Europe/Paris'), count(*) FROM reading GROUP BY 1 ORDER BY 1
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY temperature), percentile_disc(0.5) WITHIN GROUP (ORDER BY id), percentile_cont(0.25) WITHIN GROUP (ORDER BY id DESC), percentile_cont(0.9) WITHIN GROUP (ORDER BY temperature) FILTER (WHERE id > 1) FROM reading
SELECT home, percentile_cont(0.5) WITHIN GROUP (ORDER BY temperature) AS m FROM reading WHERE temperature IS NOT NULL GROUP BY home ORDER BY home
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY temperature) FROM reading WHERE id > 99
SELECT t FROM generate_series(timestamp '2024-01-31', timestamp '2024-04-30', interval '1 month') AS t
SELECT generate_series(timestamp '2024-01-01', timestamp '2024-01-02', '8 hours'::interval) AS t
SELECT to_char(d, 'DD') FROM generate_series(date '2024-01-03', date '2024-01-01', '-1 day') AS d
SELECT DISTINCT ON (date_trunc('month', hour)) id, home AS h FROM reading ORDER BY date_trunc('month', hour), hour DESC
SELECT DISTINCT ON (home) home, id FROM reading WHERE id < 3 ORDER BY home DESC, id LIMIT 1
SELECT DISTINCT ON (m) id % 2 AS m, max(id) AS t FROM reading GROUP BY id % 2, home ORDER BY m, t DESC
SELECT stddev(id) FILTER (WHERE id > 1), count(*) FROM reading
SELECT (hour AT TIME ZONE 'UTC')::text LIKE '2024%' FROM reading WHERE id = 1
SELECT id FROM reading WHERE hour > timestamp '2024-03-01 11:00' - interval '1 hour' * id ORDER BY id
SELECT id FROM reading WHERE hour >= date_trunc('month', timestamp '2024-03-15') AND hour < date_trunc('month', timestamp '2024-03-15') + interval '1 month' ORDER BY 1
SELECT count(*) FROM generate_series(timestamp '2024-03-01', timestamp '2024-03-02', interval '1 hour') AS g(t) LEFT JOIN reading r ON date_trunc('hour', r.hour) = g.t
SELECT CASE WHEN age(timestamp '2024-03-15', hour) > interval '10 days' THEN 'old' ELSE 'new' END, -id + 1, - (id) * 2 FROM reading ORDER BY id
SELECT (SELECT max(hour) FROM reading) - interval '1 day', coalesce(NULL, timestamp '2024-03-15') + interval '1 day', least(timestamp '2024-03-15', timestamp '2024-03-14') - interval '1 second'
SELECT floor(extract(epoch FROM hour) / 3600) * 3600, to_timestamp(floor(extract(epoch FROM hour) / 300) * 300) FROM reading ORDER BY id
