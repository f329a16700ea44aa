#include "app/token.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace {

using phosphene::app::user_token;
namespace fs = std::filesystem;

/// A runtime directory of the test's own.
struct Runtime {
  Runtime() {
    std::string name = "/tmp/phosphene-token-XXXXXX";
    directory = ::mkdtemp(name.data());
    ::setenv("XDG_RUNTIME_DIR", directory.c_str(), 1);
  }
  ~Runtime() {
    ::unsetenv("XDG_RUNTIME_DIR");
    fs::remove_all(directory);
  }
  fs::path file() const { return directory / "phosphene" / "token"; }
  fs::path directory;
};

void write(const fs::path& path, const std::string& text) {
  std::ofstream(path) << text;
}

}  // namespace

TEST_CASE("the token of a user stays the same, and only he can read it") {
  const Runtime runtime;
  const auto first = user_token();
  REQUIRE(first.ok());
  CHECK(first->size() == 32);
  CHECK(*user_token() == *first);
  CHECK((fs::status(runtime.file()).permissions() & fs::perms::all) ==
        (fs::perms::owner_read | fs::perms::owner_write));
  fs::remove(runtime.file());
  CHECK(*user_token() != *first);
}

TEST_CASE("a token that others could have put there, or read, is replaced") {
  const Runtime runtime;
  const std::string planted = "0123456789abcdef0123456789abcdef";
  REQUIRE(user_token().ok());
  SUBCASE("readable by others") {
    write(runtime.file(), planted);
    fs::permissions(runtime.file(), fs::perms::others_read, fs::perm_options::add);
  }
  SUBCASE("a link to somewhere else") {
    write(runtime.directory / "elsewhere", planted);
    fs::permissions(runtime.directory / "elsewhere",
                    fs::perms::owner_read | fs::perms::owner_write);
    fs::remove(runtime.file());
    fs::create_symlink(runtime.directory / "elsewhere", runtime.file());
  }
  SUBCASE("cut short") {
    write(runtime.file(), "0123");
  }
  SUBCASE("not hexadecimal") {
    write(runtime.file(), "pppppppppppppppppppppppppppppppp");
  }
  const auto token = user_token();
  REQUIRE(token.ok());
  CHECK(*token != planted);
  CHECK(token->size() == 32);
  CHECK(*user_token() == *token);
}

TEST_CASE("a directory that others may change holds no token") {
  const Runtime runtime;
  fs::create_directory(runtime.directory / "phosphene");
  ::chmod((runtime.directory / "phosphene").c_str(), 0777);
  CHECK_FALSE(user_token().ok());
}
