import java.sql.*;
import java.util.*;

/** What pgjdbc does with a session, as lines of text. */
public class Drivers {
  static Connection c;

  static String rows(ResultSet r, int... columns) throws SQLException {
    List<String> lines = new ArrayList<>();
    while (r.next()) {
      StringBuilder line = new StringBuilder();
      int n = columns.length == 0 ? r.getMetaData().getColumnCount() : columns.length;
      for (int i = 0; i < n; i++) {
        Object v = r.getObject(columns.length == 0 ? i + 1 : columns[i]);
        line.append(i == 0 ? "" : "|").append(v instanceof byte[] ? new String((byte[]) v) : v);
      }
      lines.add(line.toString());
    }
    return String.join(", ", lines);
  }

  static void ask(String sql, Object... args) {
    try (PreparedStatement p = c.prepareStatement(sql)) {
      for (int i = 0; i < args.length; i++) p.setObject(i + 1, args[i]);
      System.out.println(rows(p.executeQuery()));
    } catch (SQLException e) {
      System.out.println(e.getSQLState() + " " + e.getMessage().split("\n")[0]);
    }
  }

  public static void main(String[] args) throws Exception {
    c = DriverManager.getConnection("jdbc:postgresql://127.0.0.1:" + System.getenv("PGPORT") + "/homes?user=ann&sslmode=disable&password=" + System.getenv("PGPASSWORD"));
    for (int i = 0; i < 7; i++) // the driver asks for binary values from the fifth time on
      ask("SELECT id, home, temperature, price, kwh, id = 1, id + 1 FROM reading WHERE id = ?", 1);
    ask("SELECT dx_sum(kwh, ?) FROM reading WHERE home = ?", new java.math.BigDecimal("0.1"), "ana");
    ask("SELECT sum(kwh) FROM reading");
    ask("SELECT home, count(*) FROM reading WHERE hour > ? GROUP BY home HAVING count(*) > ? LIMIT ?", Timestamp.valueOf("2024-03-01 02:30:00"), 1, 5);
    DatabaseMetaData d = c.getMetaData();
    System.out.println(rows(d.getTables(null, "public", "%", new String[] {"TABLE", "VIEW"}), 3, 4));
    System.out.println(rows(d.getColumns(null, "public", "reading", "%"), 4, 6));
    System.out.println(rows(d.getPrimaryKeys(null, "public", "reading"), 4) + " " + rows(d.getIndexInfo(null, "public", "reading", false, true), 6) + rows(d.getImportedKeys(null, "public", "reading")));
    System.out.println(rows(d.getSchemas(), 1));
    System.out.println(d.getTypeInfo().next() + " " + d.getFunctions(null, "public", "dx%").next() + " " + (d.getSQLKeywords().length() > 0));
    c.setAutoCommit(false);
    Statement s = c.createStatement();
    s.setFetchSize(2); // which takes a portal, and fetches from it
    System.out.println(rows(s.executeQuery("SELECT id FROM reading")));
    c.commit();
    c.setReadOnly(true);
    c.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
    s.setQueryTimeout(1);
    try {
      s.executeQuery("WITH RECURSIVE w(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM w) SELECT max(n) FROM w");
    } catch (SQLException e) {
      System.out.println(e.getSQLState());
    }
    c.rollback();
    System.out.println(c.isValid(2));
  }
}
