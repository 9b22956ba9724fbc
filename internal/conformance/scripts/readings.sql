-- Readings: single ones and aggregates, by every metric. An epsilon of 100 per step
-- draws noise other than 0 with probability 2e^-100.
SELECT dx_universe('u', 0, 10, 1, 'kWh'), dx_universe('d', -5, 5, 0.5, 'degrees');
--> TEXT, TEXT
SELECT budget_limit('*', 'kWh', 100000), budget_limit('*', 'degrees', 100000), budget_limit('*', 'record', 100000);
--> TEXT, TEXT, TEXT
CREATE TABLE reading(meter, x);
INSERT INTO reading VALUES ('a', 1), ('a', 2), ('b', 6), ('c', 11), (NULL, NULL);

SELECT dx_value('a', 3, 100, 'u'), dx_value('a', 2.5, 100, 'u'), dx_value('a', -1, 100, 'u'), dx_value('a', 1e300, 100, 'u');
--> 3.0, 3.0, 0.0, 10.0
--$ a 400/kWh
SELECT dx_value('a', -2.5, 100, 'd');
--> -2.5
--$ a 100/degrees
SELECT dx_value('a', NULL, 100, 'u');
--> NULL

SELECT dx_sum(meter, x, 100, 'u') FROM reading;
--> 19.0
--$ a 100/kWh, b 100/kWh, c 100/kWh
SELECT dx_avg(meter, x, 1000, 'u'), dx_min(meter, x, 100, 'u'), dx_max(meter, x, 100, 'u') FROM reading;
--> 4.75, 1.0, 10.0
--$ a 1200/kWh, b 1200/kWh, c 1200/kWh
SELECT dx_median(meter, x, 100, 'u'), dx_percentile(meter, x, 25, 100, 'u') FROM reading;
--> 6.0, 2.0
--$ a 200/kWh, b 200/kWh, c 200/kWh
SELECT dx_count(meter, 100) FROM reading;
--> 4
--$ a 200/record, b 100/record, c 100/record
SELECT dx_accounts(meter, 100) FROM reading;
--> 3
--$ a 100/record, b 100/record, c 100/record
SELECT dx_histogram(meter, x, 200, 'u', 3) FROM reading;
--> '[{"lo":0,"hi":2,"count":2},{"lo":3,"hi":6,"count":1},{"lo":7,"hi":10,"count":1}]'
--$ a 400/record, b 200/record, c 200/record
SELECT dx_histogram(meter, x, 1, 'u', 12) FROM reading;
--! dx_histogram: bins must be at most 11, the number of values of universe 'u', not 12
SELECT dx_cumulative((SELECT dx_histogram(meter, x, 200, 'u', 3) FROM reading)), dx_cumulative(NULL);
--> '[{"hi":2,"count":2,"share":0.5},{"hi":6,"count":3,"share":0.75},{"hi":10,"count":4,"share":1.0}]', NULL
--$ a 400/record, b 200/record, c 200/record
SELECT dx_cumulative('[{"lo":0,"hi":2,"count":-5},{"lo":3,"hi":6,"count":9},{"lo":7,"hi":10,"count":-2}]');
--> '[{"hi":2,"count":0,"share":0.0},{"hi":6,"count":3,"share":1.0},{"hi":10,"count":3,"share":1.0}]'
SELECT dx_cumulative('[]');
--! dx_cumulative: histogram has 0 bins, and not from 1 to 10000
SELECT json_extract(d, '$[1].count', '$[2].count', '$[3].count', '$[7].count') FROM (SELECT dx_density(value, 200, 'u') AS d FROM json_each('[1, 7, 1, null, 2]'));
--> '[2.00,1.00,0.00,1.00]'
SELECT dx_density(x, 200, 'u') FROM reading WHERE false;
--> NULL
SELECT dx_density(value, 0, 'u') FROM json_each('[1]');
--! dx_density: epsilon must be above 0, got 0
SELECT dx_curve(meter, x, 200, 'u', 2) FROM reading;
--> '{"m":4,"lo":0,"hi":10,"step":1,"epsilon":200,"edges":[0,2,4],"sums":[3,16]}'
--$ a 200/kWh, b 200/kWh, c 200/kWh
SELECT dx_curve_percentile(c, 75), dx_curve_share(c, 2), dx_curve_mean(c, 50, 100) FROM (SELECT dx_curve(meter, x, 200, 'u', '[25, 50, 75]') AS c FROM reading);
--> 10.0, 0.5, 8.0
--$ a 200/kWh, b 200/kWh, c 200/kWh
SELECT dx_curve(meter, x, 1, 'u', 'dh') FROM reading;
--! dx_curve: metric dh: curve is released under d1 only...
SELECT dx_percentiles(meter, x, '[100, 0]', 1000, 'u', 'dh') FROM reading;
--> '[{"p":100,"value":10},{"p":0,"value":1}]'
--$ a 2000/record, b 1000/record, c 1000/record
SELECT dx_percentiles(meter, x, '[50, 101]', 1, 'u', 'dh') FROM reading;
--! dx_percentiles: ps: p is not in 0..100
SELECT dx_percentiles(meter, x, '[5, 50]', 1, 'u', 'nd1') FROM reading;
--! dx_percentiles: metric nd1...
SELECT dx_sum(meter, x, 1000, 'u', 'dh'), dx_sum(meter, x, 1000, 'u', 'nd1') FROM reading;
--> 19.0, 19.0
--$ a 4000/record, b 2000/record, c 2000/record
SELECT dx_variance(meter, x, 8000, 'u'), round(dx_stddev(meter, x, 8000, 'u'), 6) FROM reading;
--> 12.6875, 3.561952
--$ a 16000/kWh, b 16000/kWh, c 16000/kWh
SELECT dx_variance(meter, x, 1, 'u', 'nd1') FROM reading;
--! dx_variance: metric nd1...
SELECT dx_avg(meter, x, 1000, 'u', 'dinf') FROM reading;
--> 4.75
--$ a 1000/kWh, b 1000/kWh, c 1000/kWh
SELECT dx_sum(meter, x, 1000, 'u', 'dinf') FROM reading;
--! dx_sum: ...

-- How far off an answer is, of those that the same execution has released.
SELECT dx_within(s) = dx_radius('sum', 0.95, 1, 'u'), dx_within(s, 0.5) = dx_radius('sum', 0.5, 1, 'u'), dx_within(s + 1000) FROM (SELECT dx_sum(meter, x, 1, 'u') AS s FROM reading);
--> 1, 1, NULL
--$ a 1/kWh, b 1/kWh, c 1/kWh
SELECT dx_within(dx_avg(meter, x, 1, 'u', 'dh')) FROM reading;
--> REAL
--$ a 2/record, b 1/record, c 1/record
SELECT dx_within(dx_median(meter, x, 1, 'u', 'd1/noise')) FROM reading;
--> 3.0
--$ a 1/kWh, b 1/kWh, c 1/kWh
SELECT dx_rank_within(dx_median(meter, x, 1, 'u', 'd1/score')) FROM reading;
--> 4
--$ a 1/kWh, b 1/kWh, c 1/kWh
SELECT dx_within(m), dx_rank_within(m) FROM (SELECT dx_median(meter, x, 1, 'u', 'd1/window') AS m FROM reading);
--> NULL, NULL
--$ a 1/kWh, b 1/kWh, c 1/kWh
SELECT dx_percentile(meter, x, 50, 1, 'u', 'dh/score') FROM reading;
--! dx_percentile: metric "dh/score" is not one of...
SELECT dx_sum(meter, x, 1, 'u', 'd1/window') FROM reading;
--! dx_sum: metric "d1/window" is not one of...
SELECT dx_within(3), dx_rank_within(3);
--> NULL, NULL
SELECT dx_rank_within(m) = dx_rank_radius(0.95, 1, 'u'), dx_rank_within(m, 0.5) = dx_rank_radius(0.5, 1, 'u') FROM (SELECT dx_median(meter, x, 1, 'u', 'dh') AS m FROM reading);
--> 1, 1
--$ a 2/record, b 1/record, c 1/record

-- Groups: one charge in each that an account is in; an empty one from a public list
-- answers, and one that is not there does not.
CREATE TABLE district(name);
INSERT INTO district VALUES ('elm'), ('oak');
SELECT d.name, dx_sum(r.meter, r.x, 100, 'u'), dx_count(r.meter, 100) FROM district AS d LEFT JOIN reading AS r ON d.name = 'elm' AND r.meter <> 'c' GROUP BY d.name ORDER BY d.name;
--> 'elm', 9.0, 3
--> 'oak', 0.0, 0
--$ a 100/kWh, b 100/kWh, a 200/record, b 100/record
SELECT dx_sum(meter, x, 100, 'u') FROM reading WHERE false;
--> NULL

-- What has to be constant, and what has to be there.
SELECT dx_sum(meter, x, x + 1, 'u') FROM reading;
--! dx_sum: epsilon changes within a group...
SELECT dx_sum(meter, x, 1, iif(x > 1, 'u', 'd')) FROM reading;
--! dx_sum: universe changes within a group...
SELECT dx_sum(NULL, x, 1, 'u') FROM reading;
--! dx_sum: account must be TEXT or INTEGER, got NULL
SELECT dx_sum(meter, 'six', 1, 'u') FROM reading;
--! dx_sum: x must be a number, got TEXT
SELECT dx_sum(meter, x, 1, 'v') FROM reading;
--! dx_sum: universe 'v' is not declared...
SELECT dx_sum(meter, x, 1, 'u') OVER () FROM reading;
--! dx_sum() may not be used as a window function
SELECT dx_sum(meter, x) FROM reading;
--! dx_sum: sealed must be a sealed value (a call on plain columns has more arguments), got TEXT in meter; WHERE typeof(meter) = 'text' finds such rows (all, if meter was imported as TEXT)
SELECT dx_sum(meter) FROM reading;
--! wrong number of arguments to function dx_sum()
