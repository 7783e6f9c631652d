set -e
printf 'one\ntwo\nthree\n' > a.txt
printf 'two\nfour\n' > b.txt
printf 'log\n' > c.log
printf 'name,n\nx,1\ny,2\n' > data.csv
printf '{"name":"n","items":["i","j"]}\n' > j.json
printf 'p q\nr s\n' > list2.txt
printf 'a.txt\nc.log\n' > list.txt
printf 'a.txt\0c.log\0' > list0.txt
printf 's/one/ein/w fromscript.txt\n' > script.sed
printf '{ print > "fromprog.txt" }\n' > prog.awk
printf "insert into t values (5);\n" > q.sql
printf '61 62\n' > hex.txt
printf '#!/bin/sh\ntouch ran.txt\n' > run.sh
printf "open('tooled.txt', 'w').write('x')\n" > tool.py
printf 'x\n' > 'sp ace.txt'
printf 'x\n' > .hidden
mkdir src docs build empty sub
printf 'int main(void) { return 0; }\n' > src/main.c
printf 'int lib(void) { return 1; }\n' > src/lib.c
printf "import os\nos.mkdir('utild')\n" > src/util.py
printf '# r\n' > docs/readme.md
printf '# g\n' > docs/guide.md
printf 'int y;\n' > m.c
printf 'o\n' > build/x.o
printf 'o\n' > build/y.o
printf 'all:\n\ttouch built.txt\nclean:\n\trm -f build/*.o\n' > Makefile
printf 'all:\n\ttouch subbuilt.txt\n' > sub/Makefile
printf '{"name":"p","scripts":{"touchit":"touch npmed.txt"}}\n' > package.json
ln -s a.txt link
ln -s docs dirlink
chmod +x run.sh
mkdir zipped tarred
printf 'z\n' > zipped/one.txt
printf 't\n' > tarred/one.txt
tar cf a.tar tarred
tar czf a.tgz tarred
python3 -c "import zipfile; zipfile.ZipFile('a.zip', 'w').write('zipped/one.txt')"
echo tarred/one.txt | cpio -o > c.cpio 2> /dev/null || true
printf 'gz\n' > g && gzip g
rm -r zipped tarred m.c
python3 -c "import sqlite3; c = sqlite3.connect('db.sqlite'); c.execute('create table t (a)'); c.commit()"
git init -q -b main
git config user.name n
git config user.email n@example.org
git add a.txt b.txt src docs Makefile
git commit -qm first
git tag v1
printf 'side\n' > only_side.txt
git checkout -qb side
git add only_side.txt
git commit -qm side
git checkout -q main
printf 'more\n' >> src/lib.c
git commit -qam second
printf 'one\ntwo\nTHREE\n' > a.txt
git diff > x.patch
git diff --no-prefix > single.patch
git checkout -q a.txt
printf -- '--- a/Makefile\n+++ b/Makefile\n@@ -1,2 +1,2 @@\n-all:\n+every:\n \ttouch subbuilt.txt\n' > sub.patch
git init -q --bare ../tmp/bare.git
printf 'dirty\n' >> b.txt
printf 'new\n' > new.txt
printf 'n\n' > ../home/notes.txt
git repack -adq
rm -rf .git/hooks .git/info .git/description ../tmp/bare.git/hooks ../tmp/bare.git/info
