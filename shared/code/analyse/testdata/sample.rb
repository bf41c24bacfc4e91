=begin
a comment
=end
module Tools
  class Saw < Tool
    def cut?(wood)
      wood && wood.long? or return # comment
    end

    def self.make
    end
  end
end
