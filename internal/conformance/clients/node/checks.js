// Checks of node's pg, reported in the form of the Test Anything Protocol.
const { Client, Pool } = require('pg');

let made = 0;

// Asks, and compares the answer, or "SQLSTATE: " and the message of an error, with what is wanted. A * at the end
// stands for any text.
async function check(what, want, ask) {
  made++;
  let got;
  try {
    got = await ask();
  } catch (e) {
    got = `${e.code}: ${e.message}`;
  }
  const text = typeof got === 'string' ? got : JSON.stringify(got);
  const right = want.endsWith('*') ? text.startsWith(want.slice(0, -1)) : text === want;
  console.log(`${right ? 'ok' : 'not ok'} - ${what}`);
  if (!right) console.log(`# got ${text}\n# want ${want}`.replace(/\n(?!#)/g, '\n# '));
}

(async () => {
  const db = new Client();
  const notices = [];
  db.on('notice', (n) => notices.push(n.message));
  await db.connect();
  const rows = async (...args) => (await db.query(...args)).rows;
  await check('a sum is private', '[{"dx_sum":4995}]', () => rows('SELECT dx_sum(kwh, 100) FROM reading'));
  await check('its cost', '[{"answers":"1","said":true}]', () =>
    rows('SELECT answers, notice = $1 AS said FROM geosql.last_cost', [notices.at(-1)]));
  await check('parameters', '[{"a":"1","b":2.5,"c":"it\'s","d":null,"e":true}]', () =>
    rows('SELECT $1::bigint AS a, $2::float8 AS b, $3 AS c, $4::text AS d, $5::boolean AS e', [1, 2.5, "it's", null, true]));
  await check('a statement with a name', '[{"name":"Montréal"}]', async () => {
    await rows({ name: 'place', text: 'SELECT name FROM place WHERE id = $1', values: [1] });
    return rows({ name: 'place', text: 'SELECT name FROM place WHERE id = $1', values: [2] });
  });
  await check('bytea', '3', async () => (await rows('SELECT b FROM series WHERE n = 1'))[0].b.length);
  await check('a list as ANY', '[{"id":"1"},{"id":"3"}]', () => rows('SELECT id FROM place WHERE id = ANY($1) ORDER BY id', [[1, 3]]));
  await check('rows as arrays', '[["1","Paris"]]', () => rows({ text: 'SELECT id, name FROM place WHERE id = 1', rowMode: 'array' }));
  await check('binary', '[{"id":"1","late":false,"s":"text 1"}]', () => rows({ text: 'SELECT n AS id, n > 5 AS late, s FROM series WHERE n = $1', values: [1], binary: true }));
  await check('100,000 rows', '100000', async () => (await rows('SELECT n, x, s FROM series')).length);
  await check('an error', '42703: no such column: nope', () => rows('SELECT nope FROM place'));
  await check('an INSERT', '25006: *', () => rows("INSERT INTO place VALUES (9, 'x')"));
  await check('a sealed column read bare', '"kwh is sealed*', async () => {
    await rows('SELECT kwh FROM reading LIMIT 1');
    return JSON.stringify(notices.find((n) => n.includes('sealed')));
  });
  await check('several statements', '[1,2]', async () => (await db.query('SELECT 1 AS a; SELECT 2 AS a')).map((r) => Number(r.rows[0].a)));
  await check('a transaction', '[{"sum":4995}]', async () => {
    await db.query('BEGIN READ ONLY');
    await db.query('SET LOCAL geosql.epsilon = 100');
    const got = await rows('SELECT sum(kwh) FROM reading');
    await db.query('COMMIT');
    return got;
  });
  await db.end();
  await check('a pool', '1225', async () => {
    const pool = new Pool({ max: 4 });
    const all = await Promise.all([...Array(50).keys()].map((i) => pool.query('SELECT $1::bigint AS i', [i])));
    await pool.end();
    return all.reduce((sum, r) => sum + Number(r.rows[0].i), 0);
  });
  await check('a wrong password', '28P01: *', async () => {
    const other = new Client({ password: 'wrong' });
    try {
      await other.connect();
    } finally {
      await other.end();
    }
  });
  console.log(`1..${made}`);
})();
