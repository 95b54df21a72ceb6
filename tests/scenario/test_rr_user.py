#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A recording that is made by sudo: whose it is, and what its user may do."""
import os
import pwd
import shutil
import stat
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from harness import (DEVNULL, Skip, TRACER, clean_env, contains, equal, main, need, run, scratch,
                     test)
from recordings import replay, same

NOBODY = pwd.getpwnam("nobody")
SUDO = {"SUDO_UID": str(NOBODY.pw_uid), "SUDO_GID": str(NOBODY.pw_gid)}


def recorded(d, *cmd, rc=0):
    os.chmod(d, 0o777)
    r = run([TRACER, "record", "-q", "-o", os.path.join(d, "rec"), "--", *cmd], stdin=DEVNULL,
            env=clean_env(HOME="/root", **SUDO))
    equal(r.rc, rc, r.err)
    again = replay(d)
    equal((again.rc, again.out), (rc, r.out), again.err)
    return r


@test
def runs_as_who_asked_for_it():
    with scratch() as d:
        out = recorded(d, "sh", "-c", "id -un; id -G; echo $HOME $USER").out.split()
        groups = os.getgrouplist(NOBODY.pw_name, NOBODY.pw_gid)
        equal(out[0], NOBODY.pw_name, "user")
        equal(set(map(int, out[1:-2])), set(groups), "groups")
        equal(out[-2:], [NOBODY.pw_dir, NOBODY.pw_name], "HOME and USER")
        for top, dirs, files in os.walk(os.path.join(d, "rec")):
            for name in [".", *dirs, *files]:
                equal(os.stat(os.path.join(top, name)).st_uid, NOBODY.pw_uid, f"owner of {name}")


@test
def files_are_copied_with_the_users_rights():
    """Of a program of its own, with threads beside the recorder's."""
    with scratch() as d:
        path = os.path.join(d, "true")
        shutil.copy("/bin/true", path)
        recorded(d, path)
        copies = os.path.join(d, "rec", "files")
        sizes = [os.path.getsize(os.path.join(copies, n)) for n in os.listdir(copies)]
        equal(os.path.getsize(path) in sizes, True, f"a copy of it is among {sizes}")


@test
def programs_get_no_more_rights():
    """One that is root's, set-uid: what it reads would be in a recording that is not root's."""
    with scratch() as d:
        path = os.path.join(d, "id")
        shutil.copy("/usr/bin/id", path)
        os.chmod(path, 0o4755)
        if os.statvfs(d).f_flag & os.ST_NOSUID:
            raise Skip("the file system knows no set-uid")
        equal(bool(os.stat(path).st_mode & stat.S_ISUID), True, "it is set-uid")
        out = recorded(d, path).out
        contains(out, f"uid={NOBODY.pw_uid}", "who it is")
        equal("euid=0" in out, False, out)


@test
def files_of_another_mount_namespace():
    """What is below /usr there is not what is below /usr here."""
    need("unshare")
    with scratch() as d:
        with open(os.path.join(d, "data"), "w", encoding="ascii") as f:
            f.write("there\n")
        same("unshare", "-m", "sh", "-c",
             f"mount --bind {d} /usr/local && exec /usr/bin/python3 -c "
             "'import mmap; f = open(\"/usr/local/data\", \"rb\"); "
             "print(mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ)[:])'")


main()
