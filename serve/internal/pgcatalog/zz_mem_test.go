package pgcatalog
import ("testing")
func TestZMem(t *testing.T){
 a,b:=both(t, small+more, "ann")
 for _,p:=range []string{"page_count","freelist_count","page_size"}{
  x,_:=q(a,"PRAGMA pg_catalog."+p); y,_:=q(b,"PRAGMA pg_catalog."+p); t.Log(p,x,y)
 }
}
func BenchmarkZInstall(b *testing.B){
 conn:=open(b)
 d := describer{"search_path": `"$user", public`}
 for b.Loop(){ if err:=Install(conn,d); err!=nil{b.Fatal(err)} }
}
