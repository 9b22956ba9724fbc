-- equal
SELECT timestamp '2026-01-02' - timestamp '2026-01-01'
SELECT at - timestamp '2026-01-01' FROM sample WHERE id = 1
SELECT extract(century FROM date '2026-01-01')
SELECT '2026-01-31'::date + 1
SELECT '2026-01-31'::date - 1
SELECT 1 + '2026-01-31'::date
SELECT date '2026-03-01' - date '2026-02-27'
SELECT '2026-03-01'::date - '2026-02-27'::date
SELECT '2026-01-31'::date + 2 * 3
SELECT '2026-01-31'::date - 7 + 1
SELECT date '2026-01-31' + n FROM sample WHERE id = 1
SELECT id, day + 1 FROM sample ORDER BY id
SELECT id, day - 1 FROM sample ORDER BY id
SELECT id, day - date '2026-01-01' FROM sample ORDER BY id
SELECT id, day - day FROM sample ORDER BY id
SELECT max(day) - min(day) FROM sample
SELECT max(day) + 1 FROM sample
SELECT id FROM sample WHERE day > date '2026-01-31' - 1 ORDER BY id
SELECT id FROM sample WHERE day + 1 = '2026-02-01' ORDER BY id
SELECT id FROM sample WHERE day >= '2026-01-01'::date AND day < '2026-01-01'::date + 31 ORDER BY id
SELECT id FROM sample WHERE day BETWEEN '2026-01-01'::date AND '2026-01-01'::date + 30 ORDER BY id
SELECT stamp::date - 1 FROM sample WHERE id = 1
SELECT stamp::date - day FROM sample WHERE id = 1
SELECT (stamp::date + 1)::text FROM sample WHERE id = 1
SELECT (day + 1) - day FROM sample WHERE id = 1
SELECT current_date - current_date
SELECT current_date - (current_date - 7)
SELECT current_date + 1 > current_date
SELECT now()::date - current_date
SELECT '2026-01-31' + 1
SELECT s + 1 FROM sample WHERE id = 1
SELECT stamp + 1 FROM sample WHERE id = 1
SELECT stamp - stamp FROM sample WHERE id = 1
SELECT at + 1 FROM sample WHERE id = 1
SELECT at - 1 FROM sample WHERE id = 1
SELECT day * 2 FROM sample WHERE id = 1
SELECT day + day FROM sample WHERE id = 1
SELECT -day FROM sample WHERE id = 1
SELECT '2026-01-31'::date + 1.5
SELECT sum(day) FROM sample
SELECT avg(day) FROM sample
SELECT '2026-01-31'::date
SELECT '2026-02-30'::date
SELECT 'nonsense'::date
SELECT ''::date
SELECT '2026-1-5'::date
SELECT '20260131'::date
SELECT '2026-01-31 10:30:00'::date
SELECT '2026-01-31T10:30:00Z'::date
SELECT NULL::date
SELECT day::date FROM sample ORDER BY id
SELECT stamp::date FROM sample ORDER BY id
SELECT at::date FROM sample ORDER BY id
SELECT CAST('2026-01-31' AS date)
SELECT CAST('2026-02-30' AS date)
SELECT CAST(stamp AS date) FROM sample ORDER BY id
SELECT DATE '2026-02-30'
SELECT '2026-01-31'::timestamp
SELECT '2026-01-31 10:30'::timestamp
SELECT '2026-01-31 10:30:00.25'::timestamp
SELECT '2026-01-31T10:30:00'::timestamp
SELECT '2026-01-31 25:00'::timestamp
SELECT '2026-02-30 10:00'::timestamp
SELECT 'nonsense'::timestamp
SELECT timestamp '2026-01-31 10:30:00'
SELECT timestamp '2026-01-31 10:30:00.5'
SELECT '2026-01-31 10:30:00+02'::timestamptz
SELECT '2026-01-31 10:30:00+02:00'::timestamptz
SELECT '2026-01-31T10:30:00Z'::timestamptz
SELECT '2026-01-31 10:30:00+02'::timestamp
SELECT timestamptz '2026-01-31 10:30:00Z'
SELECT stamp::timestamp FROM sample ORDER BY id
SELECT at::timestamp FROM sample ORDER BY id
SELECT day::timestamp FROM sample ORDER BY id
SELECT CAST(stamp AS timestamp) FROM sample ORDER BY id
SELECT '10:30'::time
SELECT '10:30:15.5'::time
SELECT '25:30'::time
SELECT 'nonsense'::time
SELECT time '10:30:00'
SELECT at::time FROM sample ORDER BY id
SELECT id FROM sample WHERE at > '2026-01-01'::timestamp ORDER BY id
SELECT id FROM sample WHERE at >= '2026-01-31 10:30:00'::timestamp ORDER BY id
SELECT id FROM sample WHERE at = timestamp '2026-01-31 10:30' ORDER BY id
SELECT id FROM sample WHERE stamp::timestamp BETWEEN '2026-01-01' AND '2026-12-31' ORDER BY id
SELECT id FROM sample WHERE day = '2026-01-31' ORDER BY id
SELECT id FROM sample WHERE day = date '2026-01-31' ORDER BY id
SELECT id FROM sample WHERE day IN ('2026-01-31', '2026-02-28') ORDER BY id
SELECT id FROM sample WHERE at::date = '2026-01-31' ORDER BY id
SELECT at::date, count(*) FROM sample WHERE at IS NOT NULL GROUP BY at::date ORDER BY 1
SELECT extract(year FROM day) FROM sample ORDER BY id
SELECT extract(month FROM '2026-01-31'::date)
SELECT extract(dow FROM date '2026-01-31'), extract(isodow FROM date '2026-02-01'), extract(doy FROM date '2026-02-01')
SELECT extract(epoch FROM timestamp '2026-01-31 10:30:00')
SELECT extract(quarter FROM day), count(*) FROM sample WHERE day IS NOT NULL GROUP BY 1 ORDER BY 1
SELECT extract(hour FROM at), extract(minute FROM at), extract(second FROM at) FROM sample WHERE at IS NOT NULL ORDER BY id
SELECT extract(week FROM date '2026-01-01'), extract(isoyear FROM date '2027-01-01')
SELECT date_part('year', day) FROM sample ORDER BY id
SELECT date_part('hour', at) FROM sample ORDER BY id
SELECT date_trunc('month', at) FROM sample WHERE at IS NOT NULL ORDER BY 1
SELECT date_trunc('day', at), count(*) FROM sample WHERE at IS NOT NULL GROUP BY 1 ORDER BY 1
SELECT date_trunc('hour', timestamp '2026-01-31 10:30:15')
SELECT date_trunc('week', timestamp '2026-01-31 10:30:15')
SELECT date_trunc('quarter', timestamp '2026-05-31 10:30:15')
SELECT date_trunc('month', day)::date FROM sample ORDER BY id
SELECT date_trunc('month', stamp::timestamp) FROM sample ORDER BY id
SELECT date_trunc('nonsense', timestamp '2026-01-31 10:30:15')
SELECT 10::numeric / 3
SELECT 10::numeric
SELECT 10.0::numeric
SELECT 10 / 3::numeric
SELECT 10 / 4
SELECT -7 / 2, 7 / -2, -7 % 3, 7 % -3
SELECT 10 / 4.0
SELECT 10.0 / 4
SELECT 10::float / 4
SELECT 10::float8 / 4
SELECT 10::real / 4
SELECT 10::double precision / 4
SELECT 1::decimal / 8
SELECT CAST(10 AS numeric) / 3
SELECT CAST(10 AS float) / 4
SELECT CAST(10 AS double precision) / 4
SELECT CAST(10 AS decimal(10,2)) / 4
SELECT CAST(1 AS real) / 4
SELECT n / 2 FROM sample ORDER BY id
SELECT n / 2.0 FROM sample ORDER BY id
SELECT n::numeric / 2 FROM sample ORDER BY id
SELECT n::float / 2 FROM sample ORDER BY id
SELECT price / 4 FROM sample ORDER BY id
SELECT price * 3 / 4 FROM sample ORDER BY id
SELECT 1 / price FROM sample WHERE price <> 0 ORDER BY id
SELECT (price) / 4 FROM sample ORDER BY id
SELECT sum(price) / 4 FROM sample
SELECT max(price) / 4 FROM sample
SELECT x / 4 FROM sample ORDER BY id
SELECT sum(n) / 2 FROM sample
SELECT sum(n) / count(*) FROM sample
SELECT sum(n)::numeric / count(*) FROM sample
SELECT sum(n)::float / count(n) FROM sample
SELECT 100 * sum(n) / count(n) FROM sample
SELECT 100.0 * count(n) / count(*) FROM sample
SELECT count(n)::float / count(*) * 100 FROM sample
SELECT round(100.0 * count(n) / count(*), 1) FROM sample
SELECT round(count(n)::numeric / count(*), 2) FROM sample
SELECT avg(n), avg(x), avg(price) FROM sample
SELECT avg(n) / 2 FROM sample
SELECT avg(n)::int FROM sample
SELECT avg(n)::numeric(10,2) FROM sample
SELECT round(avg(n), 2) FROM sample
SELECT sum(price), sum(x), sum(n) FROM sample
SELECT n / nullif(0, 0) FROM sample
SELECT 7.5 % 2
SELECT price % 3 FROM sample ORDER BY id
SELECT mod(7, 3), mod(-7, 3)
SELECT mod(7.5, 2)
SELECT 3.7::bigint
SELECT 3.2::int
SELECT 2.5::int
SELECT 3.5::int
SELECT -2.5::int
SELECT (-2.5)::int
SELECT 2.5::float::int
SELECT 3.5::float8::int
SELECT '2.5'::float::int
SELECT x::int FROM sample WHERE id < 6 ORDER BY id
SELECT price::int FROM sample ORDER BY id
SELECT CAST(3.7 AS bigint)
SELECT CAST(3.7 AS integer)
SELECT CAST(2.5 AS int)
SELECT CAST(x AS integer) FROM sample WHERE id < 6 ORDER BY id
SELECT '12'::int
SELECT ' 12 '::int
SELECT '-12'::int
SELECT '+12'::int
SELECT '12abc'::int
SELECT ''::int
SELECT '12.5'::int
SELECT '1e3'::int
SELECT '0x1F'::int
SELECT '12abc'::bigint
SELECT 'abc'::smallint
SELECT CAST('12abc' AS integer)
SELECT CAST('12' AS integer)
SELECT s::int FROM sample
SELECT 3000000000::int
SELECT 40000::smallint
SELECT 40000::int2
SELECT 3000000000::bigint
SELECT 1e10::int
SELECT 1e20::bigint
SELECT '9223372036854775808'::bigint
SELECT '9223372036854775807'::bigint
SELECT true::int, false::int
SELECT ok::int FROM sample ORDER BY id
SELECT sum(ok::int) FROM sample
SELECT NULL::int
SELECT 'Infinity'::float
SELECT '-Infinity'::float8
SELECT '1.5'::float
SELECT '1.5abc'::float
SELECT ''::float
SELECT 'abc'::numeric
SELECT '1e3'::float
SELECT '1e400'::float
SELECT '1.50'::numeric
SELECT ' 1.5 '::numeric
SELECT CAST('1.5' AS numeric)
SELECT CAST('1.5x' AS double precision)
SELECT 3.14159::numeric(5,2)
SELECT 2.675::numeric(10,2)
SELECT 3.14159::numeric(5,0)
SELECT 3.7::numeric(5)
SELECT 123456::numeric(5,2)
SELECT CAST(3.14159 AS numeric(5,2))
SELECT CAST(x AS numeric(10,1)) FROM sample ORDER BY id
SELECT x::numeric(10,2) FROM sample ORDER BY id
SELECT 12345678901234567890::numeric
SELECT 0.1::numeric + 0.2::numeric
SELECT 0.1 + 0.2
SELECT 1.1 * 1.1
SELECT 9007199254740993::numeric
SELECT 9007199254740993::float8::bigint
SELECT 9223372036854775807 + 1
SELECT 1::text
SELECT 1.5::text
SELECT 3.0::text
SELECT 3.0::float::text
SELECT 1e20::float::text
SELECT true::text
SELECT ok::text FROM sample ORDER BY id
SELECT (1 = 1)::text
SELECT x::text FROM sample WHERE id < 4 ORDER BY id
SELECT n::text FROM sample ORDER BY id
SELECT day::text, at::text FROM sample WHERE id < 4 ORDER BY id
SELECT 'abc'::varchar(2)
SELECT 'abc'::char(2)
SELECT CAST('abc' AS varchar(2))
SELECT s::varchar(3) FROM sample ORDER BY id
SELECT 'abc'::text || 'd'
SELECT 'n: ' || n FROM sample ORDER BY id
SELECT 'x: ' || x FROM sample WHERE id < 3 ORDER BY id
SELECT 'yes'::bool, 'f'::boolean, 'on'::bool, '0'::bool
SELECT 'maybe'::bool
SELECT 1::bool, 0::bool
SELECT n::bool FROM sample ORDER BY id
SELECT true, false, NOT true
SELECT ok FROM sample ORDER BY id
SELECT ok AND n > 0 FROM sample ORDER BY id
SELECT id FROM sample WHERE ok ORDER BY id
SELECT id FROM sample WHERE NOT ok ORDER BY id
SELECT id FROM sample WHERE ok IS TRUE ORDER BY id
SELECT id FROM sample WHERE ok IS NOT TRUE ORDER BY id
SELECT id FROM sample WHERE ok = true ORDER BY id
SELECT id FROM sample WHERE ok = 'true' ORDER BY id
SELECT id FROM sample WHERE ok = 't' ORDER BY id
SELECT count(*) FILTER (WHERE ok) FROM sample
SELECT bool_and(ok), bool_or(ok), every(ok) FROM sample
SELECT sum(CASE WHEN ok THEN 1 ELSE 0 END) FROM sample
SELECT n FROM sample ORDER BY n
SELECT n FROM sample ORDER BY n DESC
SELECT id, n FROM sample ORDER BY n, id DESC
SELECT id, n FROM sample ORDER BY n DESC, id
SELECT id, n FROM sample ORDER BY 2, 1
SELECT id, n FROM sample ORDER BY n NULLS FIRST, id
SELECT id, n FROM sample ORDER BY n DESC NULLS LAST, id
SELECT s FROM sample ORDER BY s
SELECT s FROM sample ORDER BY s DESC LIMIT 2
SELECT s FROM sample ORDER BY s COLLATE "C" LIMIT 2
SELECT s FROM sample ORDER BY lower(s), id LIMIT 3
SELECT n FROM sample ORDER BY n LIMIT 2
SELECT n FROM sample ORDER BY n OFFSET 4
SELECT n FROM sample ORDER BY n DESC OFFSET 1 FETCH FIRST 2 ROWS ONLY
SELECT n FROM sample ORDER BY -n
SELECT n AS m FROM sample ORDER BY m DESC
SELECT n FROM sample ORDER BY CASE WHEN n > 3 THEN 1 END, id
SELECT n, count(*) FROM sample GROUP BY n ORDER BY n
SELECT n, count(*) FROM sample GROUP BY n ORDER BY 2 DESC, 1 DESC
SELECT n FROM sample UNION SELECT 99 ORDER BY n
SELECT n FROM sample UNION ALL SELECT 99 ORDER BY 1 DESC
SELECT DISTINCT n FROM sample ORDER BY n DESC
SELECT id, row_number() OVER (ORDER BY n, id) FROM sample ORDER BY id
SELECT id, rank() OVER (ORDER BY n DESC) FROM sample ORDER BY id
SELECT id, rank() OVER (PARTITION BY ok ORDER BY price) FROM sample ORDER BY id
SELECT id, lag(n) OVER (ORDER BY n, id) FROM sample ORDER BY id
SELECT id, first_value(id) OVER (ORDER BY s, id) FROM sample ORDER BY id
SELECT id, sum(n) OVER (ORDER BY price, id ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) FROM sample ORDER BY id
SELECT id, sum(n) OVER w FROM sample WINDOW w AS (ORDER BY price, id) ORDER BY id
SELECT string_agg(s, ',' ORDER BY s) FROM sample
SELECT string_agg(s, ',' ORDER BY n, id) FROM sample
SELECT string_agg(s, ',' ORDER BY n DESC, id) FROM sample
SELECT array_agg(n ORDER BY n) FROM sample
SELECT array_agg(id ORDER BY n DESC, id) FROM sample
SELECT (SELECT n FROM sample ORDER BY n LIMIT 1)
SELECT * FROM (SELECT n FROM sample ORDER BY n DESC LIMIT 2) AS t ORDER BY n
SELECT id FROM sample WHERE id IN (SELECT id FROM sample ORDER BY n DESC, id LIMIT 2) ORDER BY id
WITH t AS (SELECT id FROM sample ORDER BY n, id LIMIT 1) SELECT id FROM t
SELECT day FROM sample ORDER BY day, id
SELECT at FROM sample ORDER BY at DESC
SELECT ok FROM sample ORDER BY ok, id
SELECT max(n), min(n) FROM sample
SELECT id FROM sample WHERE s ILIKE 'a%' ORDER BY id
SELECT id FROM sample WHERE s ILIKE 'é%' ORDER BY id
SELECT id FROM sample WHERE s LIKE '%\_1' ORDER BY id
SELECT id FROM sample WHERE s ~ '^a' ORDER BY id
SELECT id FROM sample WHERE s ~* '^a' ORDER BY id
SELECT id FROM sample WHERE s !~ '^a' ORDER BY id
SELECT '1_2' LIKE '1\_2'
SELECT s FROM sample GROUP BY id ORDER BY id
SELECT n % 2, count(*) FROM sample GROUP BY n % 2 ORDER BY 1
SELECT n % 2 AS m, count(*) FROM sample GROUP BY m ORDER BY m
SELECT lower(s) AS name, count(*) FROM sample GROUP BY 1 ORDER BY 1
SELECT lower(s), count(*) FROM sample GROUP BY lower(s) ORDER BY 1
SELECT CASE WHEN n > 3 THEN 'many' ELSE 'few' END AS size, count(*) FROM sample GROUP BY 1 ORDER BY 1
SELECT t.n, count(*) FROM sample t GROUP BY t.n ORDER BY 1
SELECT n FROM sample GROUP BY n ORDER BY n
SELECT 1 = '1'
SELECT n = '5' FROM sample ORDER BY id
SELECT id FROM sample WHERE n = '5' ORDER BY id
SELECT id FROM sample WHERE n + 1 = '6' ORDER BY id
SELECT id FROM sample WHERE n > '3' ORDER BY id
SELECT id FROM sample WHERE n * 2 > '3' ORDER BY id
SELECT id FROM sample WHERE n IN ('5', '12') ORDER BY id
SELECT id FROM sample WHERE x = '2.5' ORDER BY id
SELECT id FROM sample WHERE price > '5' ORDER BY id
SELECT n FROM sample GROUP BY n HAVING count(*) > '1'
SELECT n FROM sample GROUP BY n HAVING sum(id) = '5'
SELECT id FROM sample WHERE n = 'abc' ORDER BY id
SELECT id FROM sample WHERE coalesce(n, 0) = '5' ORDER BY id
SELECT 5 > '10'
SELECT length('abc') = '3'
SELECT '10' > '9'
SELECT 'b' > 'A', 'a' < 'B'
SELECT 1 || 'a', 'a' || 1
SELECT 'a' || NULL
SELECT 'a' * 2
SELECT '3' + 4
SELECT s || s FROM sample ORDER BY id
SELECT n IS DISTINCT FROM 5 FROM sample ORDER BY id
SELECT n IS NOT DISTINCT FROM NULL FROM sample ORDER BY id
SELECT coalesce(n, 0), nullif(n, 5) FROM sample ORDER BY id
SELECT coalesce(s, 'none') FROM sample ORDER BY id
SELECT round(2.5), round(3.5), round(-2.5)
SELECT round(n) FROM sample ORDER BY id
SELECT round(price, 1) FROM sample ORDER BY id
SELECT ceil(2.1), floor(-2.1), trunc(2.9), trunc(-2.9)
SELECT abs(-5), abs(-2.5), sign(-3), sign(2.5)
SELECT power(2, 3), sqrt(16), exp(0), ln(1), log(100)
SELECT 5 & 3, 5 | 3, ~5, 1 << 3, 16 >> 2
SELECT pi(), degrees(pi()), radians(180)
SELECT random() BETWEEN 0 AND 1
SELECT count(*) FROM sample WHERE random() < 2
SELECT length('héllo'), char_length('héllo'), octet_length('héllo')
SELECT upper('abc'), lower('ABC')
SELECT upper('é'), lower('É')
SELECT upper(s) FROM sample ORDER BY id
SELECT substr('abcdef', 2, 3), substring('abcdef' FROM 2 FOR 3), substring('abcdef', 3)
SELECT substring('abcdef' FROM 0 FOR 3)
SELECT position('c' IN 'abc'), strpos('abc', 'z')
SELECT trim('  a '), trim(both 'x' FROM 'xxaxx'), ltrim('xxa', 'x'), rtrim('axx', 'x'), btrim('xax', 'x')
SELECT replace('abcabc', 'b', 'X')
SELECT left('abc', 2), right('abc', 2), left('abc', -1)
SELECT split_part('a,b,c', ',', 2)
SELECT concat('a', 1, NULL, 'b'), concat_ws('-', 'a', NULL, 'b')
SELECT regexp_replace('abc123', '[0-9]+', 'X')
SELECT starts_with('abc', 'ab')
SELECT format('%s and %I', 'a', 'b c')
SELECT quote_literal('it''s'), quote_ident('a b')
SELECT string_agg(s, ', ') FROM (SELECT s FROM sample WHERE s IS NOT NULL ORDER BY s) AS t
SELECT count(*), count(n), count(DISTINCT n) FROM sample
SELECT sum(n) FILTER (WHERE n > 0) FROM sample
SELECT sum(n) FROM sample WHERE false
SELECT min(s), max(s) FROM sample
SELECT CASE n WHEN 5 THEN 'five' WHEN 12 THEN 'twelve' ELSE 'other' END FROM sample ORDER BY id
SELECT CASE WHEN n > 4 THEN 1 ELSE 0.5 END FROM sample ORDER BY id
SELECT id FROM sample WHERE n BETWEEN 0 AND 5 ORDER BY id
SELECT id FROM sample WHERE n NOT IN (5, 12) ORDER BY id
SELECT id FROM sample WHERE n = ANY (ARRAY[5, 12]) ORDER BY id
SELECT id FROM sample WHERE n = ANY ('{5,12}'::int[]) ORDER BY id
SELECT id FROM sample WHERE EXISTS (SELECT 1 FROM place WHERE place.id = sample.id) ORDER BY id
SELECT a.id, b.id FROM sample a JOIN sample b ON a.n = b.n AND a.id < b.id ORDER BY 1
SELECT a.id, p.name FROM sample a LEFT JOIN place p USING (id) ORDER BY a.id
SELECT a.id, p.name FROM sample a LEFT JOIN place p ON p.id = a.id ORDER BY p.name, a.id
SELECT p.name, count(s.id) FROM place p LEFT JOIN sample s ON s.id = p.id GROUP BY p.name ORDER BY p.name
SELECT * FROM generate_series(1, 3)
SELECT g, g * 2 FROM generate_series(1, 3) AS g ORDER BY g
SELECT generate_series(1, 3)
SELECT unnest(ARRAY[1, 2, 3])
SELECT '2026-01-01'::date + g FROM generate_series(0, 2) AS g ORDER BY 1
SELECT * FROM (VALUES (1, 'a'), (2, NULL)) AS v(n, s) ORDER BY s
WITH RECURSIVE t(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM t WHERE i < 3) SELECT i FROM t ORDER BY i
SELECT id FROM sample EXCEPT SELECT id FROM place ORDER BY id
SELECT id FROM sample INTERSECT SELECT id FROM place ORDER BY 1
SELECT n, sum(n) OVER () FROM sample ORDER BY id
SELECT id, n - avg(n) OVER () FROM sample ORDER BY id
SELECT ntile(2) OVER (ORDER BY id) FROM sample ORDER BY id
SELECT 'it''s', E'a\tb', $$dollar$$
SELECT 1 AS "One", 2 AS two
SELECT NULL IS NULL, NULL = NULL
SELECT 1 <> 2, 1 != 2
SELECT 1e3, .5, 5., 1.50
SELECT -5 % 3, 5 % 3
SELECT 2 + 3 * 4 - 5, (2 + 3) * 4
SELECT 3::text::int + 1
SELECT '3'::int * 2, '1.5'::numeric * 2
SELECT (n + 0.5)::int FROM sample ORDER BY id
SELECT (n / 2)::text FROM sample ORDER BY id
SELECT n::float::text FROM sample ORDER BY id
SELECT (price * 100)::int FROM sample ORDER BY id
SELECT round(x::numeric, 1) FROM sample ORDER BY id
SELECT round((sum(x) / 3)::numeric, 3) FROM sample
SELECT (100 * n / 3)::numeric(10,1) FROM sample ORDER BY id
SELECT '{"a": 1}'::json->>'a'
SELECT ('{"a": {"b": 2}}'::json)->'a'->>'b'
SELECT current_setting('TimeZone')
SELECT '\x4142'::bytea
SELECT 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid
SELECT '{1,2}'::int[]
SELECT ARRAY[1,2,3]
SELECT array_length(ARRAY[1,2,3], 1)
SELECT '1.2.3.4'::inet
SELECT 'a'::"char"
SELECT n::oid FROM sample WHERE id = 1
SELECT 3::int4, 3::int8, 3::integer
SELECT "n" FROM "sample" WHERE "id" = 1
SELECT public.sample.n FROM public.sample WHERE id = 1
SELECT count(*) FROM reading
SELECT hour, count(*) FROM reading GROUP BY hour ORDER BY hour LIMIT 3
SELECT day, avg(temperature) FROM reading GROUP BY day ORDER BY day
SELECT hour::timestamp, temperature FROM reading ORDER BY hour, temperature LIMIT 3
SELECT hour::date AS d, count(*) FROM reading GROUP BY d ORDER BY d
SELECT date_trunc('day', hour::timestamp) AS d, avg(temperature)::numeric(10,2) FROM reading GROUP BY 1 ORDER BY 1
SELECT extract(hour FROM hour::timestamp) AS h, count(*) FROM reading GROUP BY h ORDER BY h LIMIT 3
SELECT hour FROM reading WHERE hour::date - '2024-03-01'::date = 1 ORDER BY hour, temperature LIMIT 2
SELECT temperature::int AS t, count(*) FROM reading GROUP BY t ORDER BY t LIMIT 5
SELECT x / 3, n / 3 FROM series ORDER BY n LIMIT 3
SELECT s FROM series WHERE n <= 20 ORDER BY s DESC, n LIMIT 3
SELECT place_id, sum(x)::bigint, round(avg(x)::numeric, 2) FROM series GROUP BY place_id ORDER BY place_id
SELECT p.name, count(*) FROM series JOIN place p ON p.id = place_id GROUP BY p.name ORDER BY 2 DESC, 1

-- refused
SELECT 'Jan 31 2026'::date
SELECT '01/31/2026'::date
SELECT 'today'::date = current_date
SELECT 'yesterday'::date = current_date - 1
SELECT 'infinity'::date
SELECT 'now'::timestamp > '2020-01-01'::timestamp
SELECT at - at FROM sample WHERE id = 1
SELECT 'NaN'::float
SELECT 'NaN'::numeric
SELECT 2 ^ 3
SELECT |/ 16.0
SELECT @ -5
SELECT 5 & 3, 5 | 3, 5 # 3, ~5, 1 << 3, 16 >> 2
SELECT substring('abcdef' FOR 2)
SELECT substring('abc123' FROM '[0-9]+')
SELECT U&'\0041'
SELECT pg_typeof(1)
SELECT '$5.00'::money
SELECT 5::money

-- differs: syntax and functions of SQLite
SELECT extract(year FROM 'nonsense')
SELECT '3' * '4'
SELECT max(1, 2)
SELECT 'a' 'b'
SELECT 0x1F
SELECT 1_000
SELECT strftime('%Y', day) FROM sample ORDER BY id
SELECT ifnull(n, 0) FROM sample ORDER BY id
SELECT id FROM sample WHERE s GLOB 'A*'
SELECT total(n) FROM sample
SELECT group_concat(s) FROM sample
SELECT 5 IS 5

-- differs: no number
SELECT 1 / 0
SELECT n / 0 FROM sample
SELECT 1.0 / 0
SELECT 1 % 0
SELECT x / 0 FROM sample
SELECT sqrt(-1)
SELECT ln(0)

-- differs: numbers
SELECT 0.1 + 0.2 = 0.3
SELECT 2147483647 + 1
SELECT round(2.5::float8), round(3.5::float8)
SELECT round(x) FROM sample ORDER BY id
SELECT round(2.345, 2), round(1234.5, -2)

-- differs: types
SELECT 'ok: ' || ok FROM sample WHERE id < 3 ORDER BY id
SELECT 1.5::bool
SELECT id FROM sample WHERE s = 5 ORDER BY id
SELECT json_build_object('a', 1)
SELECT 'a'::uuid
SELECT '{"a":'::json
SELECT 65::char
SELECT hour, temperature FROM reading WHERE hour >= '2024-03-01'::date + 1 ORDER BY hour, temperature LIMIT 3

-- differs: LIKE
SELECT id FROM sample WHERE s LIKE 'a%' ORDER BY id
SELECT id FROM sample WHERE s LIKE '%AN%' ORDER BY id
SELECT id FROM sample WHERE s NOT LIKE 'A%' ORDER BY id
SELECT id FROM sample WHERE s ~~ 'a%' ORDER BY id
SELECT 'a' LIKE 'A'
SELECT 'ABC' LIKE 'a_c'

-- differs: columns that are not grouped
SELECT s, count(*) FROM sample
SELECT n, s FROM sample GROUP BY n
SELECT n, max(price), s FROM sample GROUP BY n ORDER BY n
SELECT n + 1, s FROM sample GROUP BY n + 1 ORDER BY 1
SELECT upper(s), count(*) FROM sample GROUP BY n ORDER BY 2, 1
SELECT n, count(*) FROM sample GROUP BY n HAVING s = 'Apple'
SELECT id, sum(n) FROM sample

-- differs: substr
SELECT substr('abcdef', -2)
SELECT substr('abcdef', -1, 4)

-- error
SELECT 2460000::date
SELECT 'a' + 'b'
SELECT ARRAY[1,2,3][2]
SELECT 'x'::citext
